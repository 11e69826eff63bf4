import type { PrincipalPayload } from '@tessera/contracts';
import { HttpError, unauthenticated } from '@tessera/http-kit';
import { WILDCARD } from '@tessera/scope-matcher';
import type { Caller, UserCaller } from '../../tokens/caller.ts';
import type { MeRepository, Profile } from './me.repository.ts';
import { inTenant, presentPrincipal } from './principal.ts';

/** Whether a scope can match a permission of the tenant (`tenant.<slug>...`). */
const reaches = (scope: string, slug: string): boolean => {
  const [first, second] = scope.split('.');
  if (second === undefined) return scope === WILDCARD;
  return ['tenant', WILDCARD].includes(first ?? '') && [slug, WILDCARD].includes(second);
};

const mayActIn = (caller: Caller, slug: string): boolean =>
  caller.type === 'client'
    ? caller.scopes.some((scope) => reaches(scope, slug))
    : caller.isSystemAdmin;

/** 403: explains what `X-Tenant` may contain, without revealing whether the tenant exists. */
const invalidTenantHeader = (caller: Caller): HttpError => {
  const rule =
    caller.type === 'client' || caller.isSystemAdmin
      ? 'The X-Tenant header must name a tenant in which the caller may act.'
      : 'The X-Tenant header must name the tenant of the token or be omitted.';
  return new HttpError(403, 'tenant_forbidden', rule);
};

export class MeService {
  readonly #repository: MeRepository;

  constructor(repository: MeRepository) {
    this.#repository = repository;
  }

  async profile({ id }: UserCaller): Promise<Profile> {
    const profile = await this.#repository.profile(id);
    // The user was deleted after the token was checked.
    if (!profile) throw unauthenticated();
    return profile;
  }

  /**
   * The principal that services see. Clients and administrators may select a tenant (decision C5); for other
   * callers it must be the token's tenant. 403 `tenant_forbidden` otherwise.
   */
  async principal(caller: Caller, slug: string | undefined): Promise<PrincipalPayload> {
    const principal = presentPrincipal(caller);
    if (slug === undefined) return principal;
    if (caller.type !== 'client' && caller.tenant?.slug === slug) return principal;
    const tenant = mayActIn(caller, slug) ? await this.#repository.tenantBySlug(slug) : null;
    if (!tenant) throw invalidTenantHeader(caller);
    return inTenant(principal, tenant, tenant.policiesVersion);
  }
}
