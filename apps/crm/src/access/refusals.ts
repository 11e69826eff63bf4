import { type CrmPermission, crmPermission } from '@tessera/contracts';
import { HttpError, type RouteEntry } from '@tessera/http-kit';
import type { Request } from 'express';
import type { Caller } from './caller.ts';
import type { Answer } from './identity-client.ts';

/** 401 for a token that was presented and is not good (RFC 6750 section 3.1). */
export const invalidToken = (): HttpError =>
  new HttpError(401, 'unauthenticated', 'The token is not, or no longer, valid.', {
    headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
  });

/** 503: identity does not say who calls. */
export const unavailable = (retryAfter: string, cause?: unknown): HttpError =>
  new HttpError(503, 'identity_unavailable', 'The caller cannot be checked now. Try again later.', {
    headers: { 'Retry-After': retryAfter },
    cause,
  });

/** What a caller is told where identity gave no answer; 401 only where identity itself says so. */
export const refusalOf = (answer: Exclude<Answer<unknown>, { outcome: 'answered' }>): HttpError => {
  switch (answer.outcome) {
    case 'rejected':
      return invalidToken();
    case 'forbidden':
      return new HttpError(403, answer.code, answer.message);
    case 'throttled':
      return unavailable(answer.retryAfter);
    case 'unavailable':
      return unavailable('1', answer.cause);
  }
};

/** The token is bound to no tenant, or to one that its holder is not a member of. */
export const tenantForbidden = (): HttpError =>
  new HttpError(403, 'tenant_forbidden', 'The token is not for a tenant of the caller.');

/** A person acts in the tenant of their token; only clients and administrators name another (decision C5). */
export const otherTenantNamed = (): HttpError =>
  new HttpError(
    403,
    'tenant_forbidden',
    'The header X-Tenant must name the tenant of the token, or be left out.',
  );

/** The caller may act in any tenant, and named one that identity does not know. */
export const unknownTenantNamed = (): HttpError =>
  new HttpError(403, 'tenant_forbidden', 'The header X-Tenant names no tenant of the caller.');

/** A caller who belongs to no tenant and may act in any has to say where (decision C5). */
export const tenantUnnamed = (): HttpError =>
  new HttpError(403, 'tenant_forbidden', 'Name the tenant by the header "X-Tenant: <slug>".');

export const tenantSuspended = (): HttpError =>
  new HttpError(403, 'tenant_suspended', 'The tenant is suspended.');

/** The scopes of the token do not cover a permission. */
export const scopeDenied = (caller: Caller, permission: CrmPermission): HttpError => {
  const required = crmPermission(caller.tenantSlug, permission);
  const message = `The scopes of the token do not cover "${required}".`;
  return new HttpError(403, 'service_account_scope_denied', message, {
    details: { required_permission: required },
  });
};

/** The id that a path names: its last parameter. */
const resourceId = (route: RouteEntry, req: Request): string | null => {
  const name = /.*\{(\w+)\}/.exec(route.path)?.[1];
  const value = name && req.params[name];
  return typeof value === 'string' ? value : null;
};

/** 403: a permission is missing, which is named. */
export const permissionMissing = (
  tenantSlug: string,
  permission: CrmPermission,
  resourceType: string | null,
  id: string | null,
  userId: string | null,
): HttpError => {
  const required = crmPermission(tenantSlug, permission);
  return new HttpError(403, 'permission_denied', `The permission "${required}" is needed.`, {
    details: {
      required_permission: required,
      resource_type: resourceType,
      resource_id: id,
      user_id: userId,
    },
  });
};

/** No policy of the caller allows a permission, or one denies it. */
export const permissionDenied = (
  caller: Caller,
  permission: CrmPermission,
  route: RouteEntry,
  req: Request,
): HttpError => {
  const { resource = null } = route;
  const id = resource && resourceId(route, req);
  return permissionMissing(caller.tenantSlug, permission, resource, id, caller.principal.id);
};
