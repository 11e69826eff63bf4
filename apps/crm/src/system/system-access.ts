import { createHash } from 'node:crypto';
import { uuid, validate } from '@tessera/fields';
import { type CredentialScheme, HttpError, invalidField, tokenMatcher } from '@tessera/http-kit';
import type { Request } from 'express';

/** A service that acts in one tenant (decision C14). */
export class SystemCaller {
  readonly tenantId: string;
  /** Tells services with different tokens apart, without being a token. */
  readonly tokenId: string;

  constructor(tenantId: string, token: string) {
    this.tenantId = tenantId;
    this.tokenId = createHash('sha256').update(token).digest('base64url').slice(0, 16);
  }
}

/** The credential of routes that only services may call; see `systemScheme`. */
export const SYSTEM = 'system';

/** 401: the system token is missing or unknown. */
export const systemTokenMissing = (): HttpError =>
  new HttpError(401, 'unauthenticated', 'A valid token in the header X-System-Token is required.');

const tenantIdOf = (req: Request): string => {
  const tenantId = validate(uuid(), req.get('x-tenant-id') ?? '', 'X-Tenant-Id');
  if (tenantId.ok) return tenantId.value as string;
  throw invalidField('X-Tenant-Id', 'the header X-Tenant-Id must be the id of a tenant');
};

/** The scheme of system tokens: only services with one of the tokens are accepted. */
export const systemScheme = (tokens: readonly string[]): CredentialScheme<SystemCaller> => {
  const isSystemToken = tokenMatcher(tokens);
  return {
    name: SYSTEM,
    securitySchemes: {
      systemToken: { type: 'apiKey', in: 'header', name: 'X-System-Token' },
    },
    authenticate(req): SystemCaller {
      const token = req.get('x-system-token') ?? '';
      if (isSystemToken(token)) return new SystemCaller(tenantIdOf(req), token);
      throw systemTokenMissing();
    },
  };
};
