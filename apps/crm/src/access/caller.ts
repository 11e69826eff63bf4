import { type CrmPermission, crmPermission, type Principal } from '@tessera/contracts';
import { HttpError } from '@tessera/http-kit';
import type { Identified } from './principals.ts';
import { everything, nothing, type Rights } from './rights.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Who is calling, in which tenant, with which rights. */
export interface Caller {
  /** The user, in lower case; null for a client, which is nobody's user (decision C21). */
  readonly userUuid: string | null;
  readonly tenantId: string;
  readonly tenantSlug: string;
  readonly isSystemAdmin: boolean;
  /** The administrator who acts as this user. */
  readonly impersonatorId?: string;
  readonly principal: Principal;
  /** Whether scopes and policies allow a permission; for rules finer than the route's own. */
  can(permission: CrmPermission): boolean;
}

/**
 * A caller on the way through the gate, which tells it what its policies allow. The token is private,
 * so that whoever writes a caller into a log does not write it too.
 */
export class GatedCaller implements Caller {
  readonly userUuid: string | null;
  readonly tenantId: string;
  readonly tenantSlug: string;
  readonly isSystemAdmin: boolean;
  readonly impersonatorId?: string;
  readonly principal: Principal;
  readonly #token: string;
  readonly #scopes: Rights;
  #policies: Rights = nothing;

  constructor(
    token: string,
    { principal, scopes = everything }: Identified,
    tenant: Principal['tenants'][number],
  ) {
    const id = principal.id.toLowerCase();
    this.userUuid = principal.type !== 'client' && UUID.test(id) ? id : null;
    this.tenantId = tenant.id;
    this.tenantSlug = tenant.slug;
    this.isSystemAdmin = principal.is_system_admin;
    if (principal.impersonator_id !== null) this.impersonatorId = principal.impersonator_id;
    this.principal = principal;
    this.#token = token;
    this.#scopes = scopes;
  }

  get token(): string {
    return this.#token;
  }

  isInScope(permission: CrmPermission): boolean {
    return this.#scopes(crmPermission(this.tenantSlug, permission));
  }

  can(permission: CrmPermission): boolean {
    return this.isInScope(permission) && this.#policies(crmPermission(this.tenantSlug, permission));
  }

  hold(policies: Rights): void {
    this.#policies = policies;
  }
}

/** The user behind a caller, for rules about users; 403 `user_required` where there is none (decision C21). */
export const userOf = ({ userUuid }: Caller): string => {
  if (userUuid !== null) return userUuid;
  throw new HttpError(403, 'user_required', 'This needs a user, and the caller is not one.');
};
