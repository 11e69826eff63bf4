import { HttpError } from '@tessera/http-kit';
import type { IdentityResult } from './identity-client.ts';

/** 401 for a token that was presented and is not valid (RFC 6750 section 3.1). */
export const invalidToken = (): HttpError =>
  new HttpError(401, 'unauthenticated', 'The token is not, or no longer, valid.', {
    headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
  });

/** 503: identity cannot say who is calling. `retryAfter` is in seconds, or an HTTP date. */
export const identityUnavailable = (retryAfter: string, cause?: unknown): HttpError =>
  new HttpError(
    503,
    'identity_unavailable',
    'The caller cannot be authenticated now. Try again later.',
    {
      headers: { 'Retry-After': retryAfter },
      cause,
    },
  );

/** The error for the caller if identity gave no positive answer; 401 only if identity rejected the token. */
export const errorOf = (
  answer: Exclude<IdentityResult<unknown>, { outcome: 'answered' }>,
): HttpError => {
  switch (answer.outcome) {
    case 'rejected':
      return invalidToken();
    case 'forbidden':
      return new HttpError(403, answer.code, answer.message);
    case 'throttled':
      return identityUnavailable(answer.retryAfter);
    case 'unavailable':
      return identityUnavailable('1', answer.cause);
  }
};

/** 503: the service cannot ask identity for the rights of somebody who is not present. */
export const clientNotConfigured = (): HttpError =>
  new HttpError(
    503,
    'identity_client_not_configured',
    'This service has no client at identity, which this feature requires.',
  );

/** 503: identity does not say what somebody who is not present may do. */
export const rightsUnknown = (
  answer: Exclude<IdentityResult<unknown>, { outcome: 'answered' }>,
): HttpError => {
  if (answer.outcome === 'throttled') return identityUnavailable(answer.retryAfter);
  const cause =
    answer.outcome === 'unavailable'
      ? answer.cause
      : new Error(`Identity does not accept the client of this service (${answer.outcome}).`);
  return identityUnavailable('1', cause);
};

const tenantForbidden = (message: string): HttpError =>
  new HttpError(403, 'tenant_forbidden', message);

/** 403: the token is bound to no tenant, or to one that its holder is not a member of. */
export const notInTenant = (): HttpError =>
  tenantForbidden('The caller is not a member of the tenant of the token.');

/** 403: a person named another tenant than that of the token; only clients and administrators may (decision C5). */
export const otherTenant = (): HttpError =>
  tenantForbidden('The header X-Tenant must name the tenant of the token, or be left out.');

/** 403: the caller may act in any tenant, and named one that identity does not know. */
export const unknownTenant = (): HttpError =>
  tenantForbidden('The header X-Tenant does not name a tenant of the caller.');

/** 403: the caller belongs to no tenant and must name one (decision C5). */
export const tenantRequired = (): HttpError =>
  tenantForbidden('Name the tenant in the header "X-Tenant: <slug>".');

export const tenantSuspended = (): HttpError =>
  new HttpError(403, 'tenant_suspended', 'The tenant is suspended.');

/** 403: the scopes of the token do not cover a permission, given in full. */
export const scopeDenied = (permission: string): HttpError => {
  const message = `The scopes of the token do not cover "${permission}".`;
  return new HttpError(403, 'service_account_scope_denied', message, {
    details: { required_permission: permission },
  });
};
