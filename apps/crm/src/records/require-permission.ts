import { crmPermission } from '@tessera/contracts';
import { permissionDenied } from '@tessera/http-kit';
import type { Caller, CrmPermission } from '../http.ts';

/** 403 if the caller lacks a permission that depends on more than the route: its body, or the record's state. */
export const requirePermission = (
  caller: Caller,
  permission: CrmPermission,
  resource: { readonly type: string; readonly id: string | null },
): void => {
  if (caller.can(permission)) return;
  throw permissionDenied(crmPermission(caller.tenantSlug, permission), {
    resourceType: resource.type,
    resourceId: resource.id,
    userId: caller.principal.id,
  });
};
