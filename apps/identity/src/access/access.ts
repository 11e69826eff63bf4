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
import { requireActive } from './tenants.ts';

const isWithinScopes = ({ scopes }: Caller, permission: string): boolean =>
  scopes === undefined || scopes.some((scope) => covers(scope, permission));

/**
 * Whether a caller holds a permission, apart from scopes: the permissions of a client are its scopes,
 * administrators hold all, and policies of a tenant never grant system permissions.
 */
const isHeld = (caller: Caller, permission: string): boolean =>
  caller.type === 'client' ||
  caller.isSystemAdmin ||
  (!isSystemPermission(permission) && decide(caller.policies, permission).allowed);

/** Whether the caller holds a permission in the token's tenant, for rules beyond the route's permission. */
export const can = (caller: Caller, permission: IdentityPermission): boolean =>
  isWithinScopes(caller, permission) && isHeld(caller, permission);

/** 403: the caller does not belong to the tenant. */
export const tenantForbidden = (): HttpError =>
  new HttpError(403, 'tenant_forbidden', 'You do not belong to this tenant.');

/** The caller's tenant; 403 without one, or if it is not active. */
export const activeTenant = (caller: Caller): CallerTenant => {
  if (caller.type === 'client' || caller.tenant === null) throw tenantForbidden();
  requireActive(caller.tenant);
  return caller.tenant;
};

/** The caller as a user; 403 for clients, which have no account. */
export const userOf = (caller: Caller): UserCaller => {
  if (caller.type !== 'client') return caller;
  throw new HttpError(403, 'permission_denied', 'A client has no account: this is for users.');
};

/** The caller as a person; 403 for clients and service accounts, which do not sign in. */
export const personOf = (caller: Caller): UserCaller => {
  const user = userOf(caller);
  if (user.type === 'user') return user;
  throw new HttpError(403, 'permission_denied', 'This is for a person who signed in themselves.');
};

/** 403, which names the permission, unless the caller holds it. */
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

/** 403 unless the tenant of the path is the token's, and active: policies count in their own tenant only. */
const requireTenant = (caller: UserCaller, tenantId: string | undefined): void => {
  if (tenantId !== undefined && tenantId.toLowerCase() !== caller.tenant?.id) {
    throw tenantForbidden();
  }
  activeTenant(caller);
};

const restrictionMessages: Readonly<Record<Restriction, string>> = {
  two_factor_required: 'Finish signing in with the second factor.',
  pin_required: 'Give the PIN first.',
  email_verification_required: 'Confirm the email address first.',
  password_change_required: 'Change the password first.',
};

/**
 * 403 for restricted callers (2FA, PIN, address or password pending), except on the routes that lift the
 * restriction. A replaced token passes, so that its reuse is detected (decision I4).
 */
const requireUnrestricted = (caller: UserCaller, { allowRestrictions = [] }: RouteEntry): void => {
  const { restriction, isReplaced = false } = caller;
  if (restriction === null || allowRestrictions.includes(restriction) || isReplaced) return;
  throw new HttpError(403, restriction, restrictionMessages[restriction]);
};

/** 403: not possible during impersonation, or the user cannot be impersonated (decision I16). */
export const impersonationForbidden = (message: string): HttpError =>
  new HttpError(403, 'impersonation_forbidden', message);

/** 403 during impersonation, except on routes that admit it. */
const requireNoImpersonation = (
  caller: UserCaller,
  { allowRestrictions = [] }: RouteEntry,
): void => {
  if (caller.impersonatorId === null || allowRestrictions.includes('impersonation')) return;
  throw impersonationForbidden('This is not possible while acting as another user.');
};

/** 403 for clients of tenants and third parties on routes of account security (decision I19). */
const requireFirstParty = (caller: UserCaller, { clients }: RouteEntry): void => {
  if (clients !== 'first_party' || caller.clientKind === 'first_party') return;
  const message = 'Only a first-party application may do this. Use the account pages.';
  throw new HttpError(403, 'first_party_required', message);
};

/**
 * 403 if the scopes of a person's token do not allow the route. No scope names the routes that need no
 * permission, such as those of one's own profile: they are allowed only if they admit `scoped` or `any_scope`.
 */
const requireScope = ({ type, scopes }: UserCaller, route: RouteEntry): void => {
  if (type !== 'user' || scopes === undefined) return;
  if (route.allowRestrictions?.includes('any_scope')) return;
  const isNamed = permissionsOf(route).length > 0 || route.allowRestrictions?.includes('scoped');
  if (isNamed && opensApi(scopes)) return;
  throw new HttpError(403, 'insufficient_scope', "The token's scopes do not allow this.", {
    headers: { 'WWW-Authenticate': 'Bearer error="insufficient_scope"' },
  });
};

/** Checks that a caller may use a route; throws 403 otherwise, and 404 for a malformed tenant id (decision I12). */
export const authorize: Gate<Caller>['authorize'] = (caller, route, req) => {
  if (caller.type !== 'client') {
    requireFirstParty(caller, route);
    requireNoImpersonation(caller, route);
    requireUnrestricted(caller, route);
    requireScope(caller, route);
  }
  // API keys of a suspended tenant are refused (decision I13).
  if (caller.type === 'service_account') activeTenant(caller);
  const tenantId = req.params.tenantId?.toString();
  if (tenantId !== undefined && !isUuid(tenantId)) throw notFound();
  for (const permission of permissionsOf(route)) {
    const isAboveTenants = caller.type === 'client' || caller.isSystemAdmin;
    if (!isAboveTenants && !isSystemPermission(permission)) requireTenant(caller, tenantId);
    demand(caller, permission, route, req);
  }
};
