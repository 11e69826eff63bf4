import { type IdentityPermission, isSystemPermission } from '@tessera/contracts';
import { type Gate, HttpError, notFound, permissionsOf, type RouteEntry } from '@tessera/http-kit';
import { covers, decide } from '@tessera/scope-matcher';
import type { Request } from 'express';
import type { Caller, CallerTenant, UserCaller } from './tokens/caller.ts';

const isWithinScopes = ({ scopes }: Caller, permission: string): boolean =>
  scopes === undefined || scopes.some((scope) => covers(scope, permission));

/** Scopes aside: administrators hold everything, others what their policies give, which is nothing of the system's. */
const isHeld = (caller: UserCaller, permission: string): boolean =>
  caller.isSystemAdmin ||
  (!isSystemPermission(permission) && decide(caller.policies, permission).allowed);

/** Whether a permission is held in the tenant of the caller's token; for rules finer than the route's own. */
export const can = (caller: Caller, permission: IdentityPermission): boolean =>
  isWithinScopes(caller, permission) && (caller.type === 'client' || isHeld(caller, permission));

/** 403: nobody may do this with a token of that tenant, as long as it is not active. */
const tenantSuspended = (): HttpError =>
  new HttpError(403, 'tenant_suspended', 'The tenant is suspended.');

/** 403: the caller has nothing to do with the tenant. */
export const tenantForbidden = (): HttpError =>
  new HttpError(403, 'tenant_forbidden', 'You do not belong to this tenant.');

/** The active tenant that the caller acts in; 403 where there is none. */
export const activeTenant = (caller: Caller): CallerTenant => {
  if (caller.type === 'client' || caller.tenant === null) throw tenantForbidden();
  if (!caller.tenant.isActive) throw tenantSuspended();
  return caller.tenant;
};

/** The caller as a user; clients, who have no account, get 403. */
export const userOf = (caller: Caller): UserCaller => {
  if (caller.type !== 'client') return caller;
  throw new HttpError(403, 'permission_denied', 'A client has no account: this is for users.');
};

/** The last parameter of the path. */
const resourceId = (req: Request): string | null =>
  Object.values(req.params).map(String).at(-1) ?? null;

const denied = (
  code: 'permission_denied' | 'service_account_scope_denied',
  { caller, permission, route, req }: Attempt,
): HttpError =>
  new HttpError(403, code, `This needs the permission ${permission}.`, {
    details: {
      required_permission: permission,
      resource_type: route.resource ?? null,
      resource_id: resourceId(req),
      user_id: caller.id,
    },
  });

interface Attempt {
  readonly caller: Caller;
  readonly permission: string;
  readonly route: RouteEntry;
  readonly req: Request;
}

/** Refuses what the caller does not hold, naming the permission (decision I12). */
const demand = (attempt: Attempt): void => {
  const { caller, permission } = attempt;
  // The scopes of a client are its policies; elsewhere they are a limit with a code of its own.
  if (caller.type === 'client') {
    if (!isWithinScopes(caller, permission)) throw denied('permission_denied', attempt);
    return;
  }
  if (!isWithinScopes(caller, permission)) throw denied('service_account_scope_denied', attempt);
  if (!isHeld(caller, permission)) throw denied('permission_denied', attempt);
};

/** Whose rights a tenant grants must act in it: the tenant of the path is the token's, and active. */
const demandTenant = (caller: UserCaller, { tenantId }: Request['params']): void => {
  if (tenantId !== undefined && String(tenantId).toLowerCase() !== caller.tenant?.id) {
    throw tenantForbidden();
  }
  activeTenant(caller);
};

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a known caller may use a route: what it needs must be held in the tenant that it is about. */
export const authorize: Gate<Caller>['authorize'] = (caller, route, req) => {
  // The keys of a suspended tenant open nothing (decision I13).
  if (caller.type === 'service_account') activeTenant(caller);
  const { tenantId } = req.params;
  if (tenantId !== undefined && !UUID.test(String(tenantId))) throw notFound();
  for (const permission of permissionsOf(route)) {
    const isTenants = !isSystemPermission(permission);
    if (isTenants && caller.type !== 'client' && !caller.isSystemAdmin) {
      demandTenant(caller, req.params);
    }
    demand({ caller, permission, route, req });
  }
};
