import { type Principal, servicePermission } from '@tessera/contracts';
import { isUuid } from '@tessera/fields';
import { HttpError } from '@tessera/http-kit';
import type { AuthenticatedToken } from './principal-cache.ts';
import { everything, nothing, type Rights } from './rights.ts';

/** The caller, the tenant it acts in, and its rights there. */
export interface Caller<Permission extends string = string> {
  /** The caller's user id, in lower case; null for a client, which has no user (decision C21). */
  readonly userUuid: string | null;
  readonly tenantId: string;
  readonly tenantSlug: string;
  readonly isSystemAdmin: boolean;
  /** The administrator who acts as this user; absent unless impersonating. */
  readonly impersonatorId?: string;
  /** The caller as identity describes them. */
  readonly principal: Principal;
  /** Whether the scopes of the token cover a permission; policies may still deny it. */
  isInScope(permission: Permission): boolean;
  /** Whether scopes and policies allow a permission; for rules finer than the route's own. */
  can(permission: Permission): boolean;
}

export interface GatedCallerOptions {
  /** The service whose permissions are meant, as it stands in their names: `crm`. */
  readonly service: string;
  readonly token: string;
  readonly authenticated: AuthenticatedToken;
  /** The tenant that the caller acts in. */
  readonly tenant: Principal['tenants'][number];
}

/**
 * A caller that the gate has authenticated, and whose policies it adds on authorization. The token is a
 * private field, so that a log entry with the caller does not contain it.
 */
export class GatedCaller<Permission extends string = string> implements Caller<Permission> {
  readonly userUuid: string | null;
  readonly tenantId: string;
  readonly tenantSlug: string;
  readonly impersonatorId?: string;
  readonly #service: string;
  readonly #token: string;
  #principal: Principal;
  #scopes: Rights;
  #policies: Rights = nothing;

  constructor({ service, token, authenticated, tenant }: GatedCallerOptions) {
    const { principal, scopes = everything } = authenticated;
    const id = principal.id.toLowerCase();
    this.userUuid = principal.type !== 'client' && isUuid(id) ? id : null;
    this.tenantId = tenant.id;
    this.tenantSlug = tenant.slug;
    if (principal.impersonator_id !== null) this.impersonatorId = principal.impersonator_id;
    this.#principal = principal;
    this.#service = service;
    this.#token = token;
    this.#scopes = scopes;
  }

  get principal(): Principal {
    return this.#principal;
  }

  get isSystemAdmin(): boolean {
    return this.#principal.is_system_admin;
  }

  get token(): string {
    return this.#token;
  }

  /** The full name of a permission in the caller's tenant: `tenant.acme.crm.contacts.list`. */
  permissionName(permission: Permission): string {
    return servicePermission(this.#service, this.tenantSlug, permission);
  }

  isInScope(permission: Permission): boolean {
    return this.#scopes(this.permissionName(permission));
  }

  can(permission: Permission): boolean {
    return this.isInScope(permission) && this.#policies(this.permissionName(permission));
  }

  /** Sets what the caller's policies allow; nothing before that. */
  setPolicies(policies: Rights): void {
    this.#policies = policies;
  }

  /**
   * Takes over the rights that the same token has by now, for a request that takes long: what it still checks or reads
   * follows them.
   */
  renew(latest: GatedCaller<Permission>): void {
    this.#principal = latest.#principal;
    this.#scopes = latest.#scopes;
    this.#policies = latest.#policies;
  }
}

/** A principal who is not present, as a caller: with the rights that it has now. */
export interface ActiveCaller {
  readonly service: string;
  readonly principal: Principal;
  readonly tenant: Principal['tenants'][number];
  readonly scopes: Rights;
  readonly policies: Rights;
}

/** Creates the caller in whose name a service acts for a principal who is not present. */
export const callerFor = <Permission extends string>({
  service,
  principal,
  tenant,
  scopes,
  policies,
}: ActiveCaller): GatedCaller<Permission> => {
  const authenticated = { principal, scopes };
  const caller = new GatedCaller<Permission>({ service, token: '', authenticated, tenant });
  caller.setPolicies(policies);
  return caller;
};

/** The id of the caller's user, for rules that need one; throws 403 `user_required` if there is none (decision C21). */
export const requireUser = ({ userUuid }: Pick<Caller, 'userUuid'>): string => {
  if (userUuid !== null) return userUuid;
  throw new HttpError(403, 'user_required', 'Only a user can do this; the caller is not a user.');
};
