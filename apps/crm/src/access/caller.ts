import type { CrmPermission, Principal } from '@tessera/contracts';

/** Who is calling, in which tenant, with which rights. */
export interface Caller {
  /** A user's UUID, or the client id of a client token. */
  readonly userId: string;
  readonly tenantId: string;
  readonly tenantSlug: string;
  readonly isSystemAdmin: boolean;
  /** The administrator who acts as this user. */
  readonly impersonatorId?: string;
  readonly principal: Principal;
  /** Whether scopes and policies allow a permission; for rules finer than the route's own. */
  can(permission: CrmPermission): boolean;
}
