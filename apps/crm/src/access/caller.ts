import type { CrmPermission } from './permission.ts';

/** Who is calling, in which tenant, with which rights. */
export interface Caller {
  readonly userId: string;
  readonly tenantId: string;
  readonly tenantSlug: string;
  readonly isSystemAdmin: boolean;
  /** The administrator who acts as this user. */
  readonly impersonatorId?: string;
  /** Whether scopes and policies allow a permission; for rules finer than the route's own. */
  can(permission: CrmPermission): boolean;
}
