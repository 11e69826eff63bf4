import { createHash, timingSafeEqual } from 'node:crypto';
import { uuid, validate } from '@tessera/fields';
import { type Gate, HttpError, invalidField } from '@tessera/http-kit';
import type { Request } from 'express';

/** A service, acting in one tenant (decision C14). */
export class SystemCaller {
  readonly tenantId: string;

  constructor(tenantId: string) {
    this.tenantId = tenantId;
  }
}

/** What routes name that services use; see `withSystemCallers`. */
export const SYSTEM = 'system';

/** How documents describe it. */
export const systemCredential = {
  systemToken: { type: 'apiKey', in: 'header', name: 'X-System-Token' },
  systemTenant: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Tenant-Id',
    description: 'The id of the tenant to act in',
  },
} as const;

/** 401: no service is known by what was presented. */
export const systemTokenMissing = (): HttpError =>
  new HttpError(401, 'unauthenticated', 'The header X-System-Token is needed here.');

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

const tenantOf = (req: Request): string => {
  const named = validate(uuid(), req.get('x-tenant-id') ?? '', 'X-Tenant-Id');
  if (named.ok) return named.value as string;
  throw invalidField('X-Tenant-Id', 'the header X-Tenant-Id must be the id of a tenant');
};

/**
 * Lets services with one of the tokens into the routes that name the credential `system`, and nobody
 * else; all other routes stay with the gate that is given. Tokens are compared by their digests, each
 * with every known one, in a time that tells nothing.
 */
export const withSystemCallers = <Caller>(
  gate: Gate<Caller>,
  tokens: readonly string[],
): Gate<Caller | SystemCaller> => {
  const known = tokens.map(digest);
  const isKnown = (token: string): boolean => {
    const presented = digest(token);
    return known.filter((expected) => timingSafeEqual(expected, presented)).length > 0;
  };
  return {
    async authenticate(req, route) {
      if (route.credential !== SYSTEM) return gate.authenticate(req, route);
      if (isKnown(req.get('x-system-token') ?? '')) return new SystemCaller(tenantOf(req));
      throw systemTokenMissing();
    },
    authorize(caller, route, req) {
      const isSystem = caller instanceof SystemCaller;
      if (isSystem !== (route.credential === SYSTEM)) {
        throw new HttpError(403, 'permission_denied', 'This is for another kind of caller.');
      }
      return isSystem ? undefined : gate.authorize(caller, route, req);
    },
  };
};
