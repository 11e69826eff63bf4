import { crmPermission } from '@tessera/contracts';
import { permissionDenied } from '@tessera/http-kit';
import { scopeDenied } from '@tessera/resource-server';
import type { Caller, CrmPermission } from '../http.ts';

/**
 * 403 if the caller lacks a permission that depends on more than the route: its body, or the record's state. As in
 * the check of routes, the scopes of the token come first.
 */
export const requirePermission = (
  caller: Caller,
  permission: CrmPermission,
  resource: { readonly type: string; readonly id: string | null },
): void => {
  const name = crmPermission(caller.tenantSlug, permission);
  if (!caller.isInScope(permission)) throw scopeDenied(name);
  if (caller.can(permission)) return;
  throw permissionDenied(name, {
    resourceType: resource.type,
    resourceId: resource.id,
    userId: caller.principal.id,
  });
};
