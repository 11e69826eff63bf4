import { createHash, timingSafeEqual } from 'node:crypto';
import { uuid, validate } from '@tessera/fields';
import { type Gate, HttpError, invalidField } from '@tessera/http-kit';
import type { Request } from 'express';

/** A service that acts in one tenant (decision C14). */
export class SystemCaller {
  readonly tenantId: string;

  constructor(tenantId: string) {
    this.tenantId = tenantId;
  }
}

/** The credential of routes that only services call; see `withSystemCallers`. */
export const SYSTEM = 'system';

/** The OpenAPI security schemes of this credential. */
export const systemCredential = {
  systemToken: { type: 'apiKey', in: 'header', name: 'X-System-Token' },
  systemTenant: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Tenant-Id',
    description: 'The id of the tenant to act in',
  },
} as const;

/** 401: the system token is missing or unknown. */
export const systemTokenMissing = (): HttpError =>
  new HttpError(401, 'unauthenticated', 'A valid token in the header X-System-Token is required.');

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

const tenantOf = (req: Request): string => {
  const tenantId = validate(uuid(), req.get('x-tenant-id') ?? '', 'X-Tenant-Id');
  if (tenantId.ok) return tenantId.value as string;
  throw invalidField('X-Tenant-Id', 'the header X-Tenant-Id must be the id of a tenant');
};

/**
 * Adds system tokens to a gate: only services with one of the tokens may call the routes with the credential `system`;
 * all other routes stay with the given gate. Digests are compared in constant time, with every known token.
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
        throw new HttpError(403, 'permission_denied', 'This route is for another kind of caller.');
      }
      return isSystem ? undefined : gate.authorize(caller, route, req);
    },
  };
};
