import { type IdentityPermission, isSystemPermission } from '@tessera/contracts';
import { isUuid } from '@tessera/fields';
import {
  type Gate,
  HttpError,
  notFound,
  permissionDenied,
  permissionsOf,
  type RouteEntry,
  resourceIdOf,
} from '@tessera/http-kit';
import { covers, decide } from '@tessera/scope-matcher';
import type { Request } from 'express';
import type { Caller, CallerTenant, Restriction, UserCaller } from '../tokens/caller.ts';
import { opensApi } from '../tokens/scopes.ts';

const isWithinScopes = ({ scopes }: Caller, permission: string): boolean =>
  scopes === undefined || scopes.some((scope) => covers(scope, permission));

/**
 * Scopes aside: those of a client are its policies, administrators hold everything, and no policy of a
 * tenant reaches what is the system's.
 */
const isHeld = (caller: Caller, permission: string): boolean =>
  caller.type === 'client' ||
  caller.isSystemAdmin ||
  (!isSystemPermission(permission) && decide(caller.policies, permission).allowed);

/** Whether a permission is held in the tenant of the token; for rules finer than the route's own. */
export const can = (caller: Caller, permission: IdentityPermission): boolean =>
  isWithinScopes(caller, permission) && isHeld(caller, permission);

/** 403: the caller has nothing to do with the tenant. */
export const tenantForbidden = (): HttpError =>
  new HttpError(403, 'tenant_forbidden', 'You do not belong to this tenant.');

/** The active tenant that the caller acts in; 403 where there is none. */
export const activeTenant = (caller: Caller): CallerTenant => {
  if (caller.type === 'client' || caller.tenant === null) throw tenantForbidden();
  if (caller.tenant.isActive) return caller.tenant;
  throw new HttpError(403, 'tenant_suspended', 'The tenant is suspended.');
};

/** The caller as a user; clients, who have no account, get 403. */
export const userOf = (caller: Caller): UserCaller => {
  if (caller.type !== 'client') return caller;
  throw new HttpError(403, 'permission_denied', 'A client has no account: this is for users.');
};

/** The caller as a person: service accounts have no way in of their own to look after. */
export const personOf = (caller: Caller): UserCaller => {
  const user = userOf(caller);
  if (user.type === 'user') return user;
  throw new HttpError(403, 'permission_denied', 'This is for a person who signed in themselves.');
};

/** Refuses what the caller does not hold, and says what that is. */
const demand = (caller: Caller, permission: string, route: RouteEntry, req: Request): void => {
  const isWithin = isWithinScopes(caller, permission);
  if (isWithin && isHeld(caller, permission)) return;
  const isLimited = !isWithin && caller.type !== 'client';
  const code = isLimited ? 'service_account_scope_denied' : 'permission_denied';
  const denied = {
    resourceType: route.resource ?? null,
    resourceId: resourceIdOf(route, req),
    userId: caller.id,
  };
  throw permissionDenied(permission, denied, code);
};

/** What a tenant gives is good in that tenant: the one of the path is the token's, and it is active. */
const demandTenant = (caller: UserCaller, tenantId: string | undefined): void => {
  if (tenantId !== undefined && tenantId.toLowerCase() !== caller.tenant?.id) {
    throw tenantForbidden();
  }
  activeTenant(caller);
};

const restrictionPages: Readonly<Record<Restriction, string>> = {
  two_factor_required: 'Finish signing in with the second factor.',
  pin_required: 'Give the PIN first.',
  email_verification_required: 'Confirm the email address first.',
  password_change_required: 'Change the password first.',
};

/**
 * Refuses who has something left to do, except where that is done. A replaced token passes, to be found reused:
 * what its user has left to do must not hide that somebody has a copy (decision I4).
 */
const demandFinished = (caller: UserCaller, { admits = [] }: RouteEntry): void => {
  const { restriction, isReplaced = false } = caller;
  if (restriction === null || admits.includes(restriction) || isReplaced) return;
  throw new HttpError(403, restriction, restrictionPages[restriction]);
};

/** 403: not while acting as another, or nobody may act as that user (decision I16). */
export const impersonationForbidden = (message: string): HttpError =>
  new HttpError(403, 'impersonation_forbidden', message);

/** Refuses whoever acts as another user, except where the route says that they may come. */
const demandOneself = (caller: UserCaller, { admits = [] }: RouteEntry): void => {
  if (caller.impersonatorId === null || admits.includes('impersonation')) return;
  throw impersonationForbidden('This is not possible while acting as another user.');
};

/** Refuses the client of a tenant or of a third party where the account itself is at stake (decision I19). */
const demandFirstParty = (caller: UserCaller, { clients }: RouteEntry): void => {
  if (clients !== 'first_party' || caller.clientKind === 'first_party') return;
  const message = 'Only a first-party application may do this. Use the account pages.';
  throw new HttpError(403, 'first_party_required', message);
};

/**
 * A person's token with scopes opens what its scopes name. What every known caller may do, such as seeing
 * one's own profile, no scope names: it is only open where the route says so.
 */
const demandScope = ({ type, scopes }: UserCaller, route: RouteEntry): void => {
  if (type !== 'user' || scopes === undefined) return;
  const isNamed = permissionsOf(route).length > 0 || route.admits?.includes('scoped');
  if (isNamed && opensApi(scopes)) return;
  throw new HttpError(403, 'insufficient_scope', "The token's scopes do not allow this.", {
    headers: { 'WWW-Authenticate': 'Bearer error="insufficient_scope"' },
  });
};

/** Whether a known caller may use a route: what it needs must be held where it leads (decision I12). */
export const authorize: Gate<Caller>['authorize'] = (caller, route, req) => {
  if (caller.type !== 'client') {
    demandFirstParty(caller, route);
    demandOneself(caller, route);
    demandFinished(caller, route);
    demandScope(caller, route);
  }
  // The keys of a suspended tenant open nothing (decision I13).
  if (caller.type === 'service_account') activeTenant(caller);
  const tenantId = req.params.tenantId?.toString();
  if (tenantId !== undefined && !isUuid(tenantId)) throw notFound();
  for (const permission of permissionsOf(route)) {
    const isAboveTenants = caller.type === 'client' || caller.isSystemAdmin;
    if (!isAboveTenants && !isSystemPermission(permission)) demandTenant(caller, tenantId);
    demand(caller, permission, route, req);
  }
};
