import type { PrincipalPayload } from '@tessera/contracts';
import { HttpError, unauthenticated } from '@tessera/http-kit';
import { WILDCARD } from '@tessera/scope-matcher';
import type { Caller, UserCaller } from '../../tokens/caller.ts';
import type { MeRepository, Profile } from './me.repository.ts';
import { inTenant, presentPrincipal } from './principal.ts';

/** Whether a scope can cover any permission in a tenant, which begins with `tenant.<slug>`. */
const reaches = (scope: string, slug: string): boolean => {
  const [first, second] = scope.split('.');
  if (second === undefined) return scope === WILDCARD;
  return ['tenant', WILDCARD].includes(first ?? '') && [slug, WILDCARD].includes(second);
};

const mayActIn = (caller: Caller, slug: string): boolean =>
  caller.type === 'client'
    ? caller.scopes.some((scope) => reaches(scope, slug))
    : caller.isSystemAdmin;

/** Says what `X-Tenant` may name; whether the tenant exists is not told. */
const otherTenantNamed = (caller: Caller): HttpError => {
  const rule =
    caller.type === 'client' || caller.isSystemAdmin
      ? 'The header X-Tenant must name a tenant that the caller may act in.'
      : 'The header X-Tenant must name the tenant of the token, or be left out.';
  return new HttpError(403, 'tenant_forbidden', rule);
};

export class MeService {
  readonly #repository: MeRepository;

  constructor(repository: MeRepository) {
    this.#repository = repository;
  }

  async profile({ id }: UserCaller): Promise<Profile> {
    const profile = await this.#repository.profile(id);
    // Deleted between the check of the token and here.
    if (!profile) throw unauthenticated();
    return profile;
  }

  /**
   * The caller as services see them. Clients and administrators may name a tenant to act in (decision
   * C5), from others it must be the token's; 403 `tenant_forbidden` otherwise.
   */
  async principal(caller: Caller, slug: string | undefined): Promise<PrincipalPayload> {
    const principal = presentPrincipal(caller);
    if (slug === undefined) return principal;
    if (caller.type !== 'client' && caller.tenant?.slug === slug) return principal;
    const tenant = mayActIn(caller, slug) ? await this.#repository.tenantBySlug(slug) : null;
    if (!tenant) throw otherTenantNamed(caller);
    return inTenant(principal, tenant, tenant.policiesVersion);
  }
}
