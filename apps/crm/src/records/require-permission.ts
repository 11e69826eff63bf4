import { crmPermission } from '@tessera/contracts';
import { permissionDenied } from '@tessera/http-kit';
import { scopeDenied } from '@tessera/resource-server';
import type { Caller, CrmPermission } from '../http.ts';

/** 403 unless the scopes of the token include the permission. */
export const requireScope = (caller: Caller, permission: CrmPermission): void => {
  if (caller.isInScope(permission)) return;
  throw scopeDenied(crmPermission(caller.tenantSlug, permission));
};

/**
 * 403 if the caller lacks a permission that depends on more than the route: its body, or the record's state. As in
 * the check of routes, the scopes of the token come first.
 */
export const requirePermission = (
  caller: Caller,
  permission: CrmPermission,
  resource: { readonly type: string; readonly id: string | null },
): void => {
  requireScope(caller, permission);
  if (caller.can(permission)) return;
  throw permissionDenied(crmPermission(caller.tenantSlug, permission), {
    resourceType: resource.type,
    resourceId: resource.id,
    userId: caller.principal.id,
  });
};
