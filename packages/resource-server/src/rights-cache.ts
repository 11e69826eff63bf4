import { createPrincipal, type Principal, type PrincipalRights } from '@tessera/contracts';
import type { CacheReading } from '@tessera/telemetry/metrics';
import { callerFor, type GatedCaller } from './caller.ts';
import type { Predicate } from './coherent-fetches.ts';
import { ConnectedCache } from './connected-cache.ts';
import type { AbsentPrincipal, IdentityResult } from './identity-client.ts';
import type { PolicyChange } from './policy-cache.ts';
import { everything, rightsFromPolicies, rightsFromScopes } from './rights.ts';
import type { StreamState } from './stream.ts';

export interface RightsCacheOptions {
  /** The service whose permissions are meant. */
  readonly service: string;
  /** Requests the rights of a principal from identity. */
  fetch(principal: AbsentPrincipal): Promise<IdentityResult<PrincipalRights | 'inactive'>>;
  stream(): StreamState;
  /** Milliseconds since the epoch. */
  clock(): number;
  /** Maximum time that rights are cached, in milliseconds. */
  lifetime: number;
}

/** A principal with the rights that it has now. */
interface Found {
  readonly principal: Principal;
  readonly tenantId: string;
  /** Undefined if it cannot act in the tenant. */
  readonly caller: GatedCaller | undefined;
  readonly size: number;
  readonly expiresAt: number;
}

/** The policies of all cached principals together. */
const CAPACITY_IN_POLICIES = 1_000_000;

const keyOf = ({ tenantId, id, type, tokenId }: AbsentPrincipal): string =>
  JSON.stringify([tenantId, type, id, tokenId ?? null]);

/** The rights of principals who are not present, cached for a short time. */
export class RightsCache {
  readonly #options: RightsCacheOptions;
  readonly #cache: ConnectedCache<Found>;

  constructor(options: RightsCacheOptions) {
    this.#options = options;
    const { stream, clock } = options;
    this.#cache = new ConnectedCache({
      stream,
      clock,
      capacity: CAPACITY_IN_POLICIES,
      sizeOf: ({ size }) => size + 1,
      expiryOf: ({ expiresAt }) => expiresAt,
    });
  }

  get use(): CacheReading {
    return this.#cache.use;
  }

  /** The principal as a caller with its current rights; undefined if it cannot act in the tenant. */
  async get(principal: AbsentPrincipal): Promise<IdentityResult<GatedCaller | undefined>> {
    const answer = await this.#cache.get(
      () => keyOf(principal),
      () => this.#fetch(principal),
    );
    return answer.outcome === 'answered' ? { ...answer, value: answer.value.caller } : answer;
  }

  /** Removes the principals that an event affects. */
  evict(affects: Predicate<Principal>): void {
    this.#cache.evict(({ principal }) => affects(principal));
  }

  /** Removes the principals whose policies changed. */
  evictPolicies({ tenantId, userIds }: PolicyChange): void {
    this.#cache.evict(
      (found) => found.tenantId === tenantId && (userIds?.includes(found.principal.id) ?? true),
    );
  }

  evictAll(): void {
    this.#cache.evictAll();
  }

  async #fetch(asked: AbsentPrincipal): Promise<IdentityResult<Found>> {
    const { clock, fetch, lifetime } = this.#options;
    const expiresAt = clock() + lifetime;
    const answer = await fetch(asked);
    return answer.outcome === 'answered'
      ? { ...answer, value: this.#found(asked, answer.value, expiresAt) }
      : answer;
  }

  #found(
    { id, type, tokenId = null, tenantId }: AbsentPrincipal,
    rights: PrincipalRights | 'inactive',
    expiresAt: number,
  ): Found {
    const isActive = rights !== 'inactive';
    const slug = isActive ? rights.tenantSlug : '';
    const tenant = { id: tenantId, slug, name: slug, plan: null, is_active: isActive };
    const principal = createPrincipal({
      id,
      type,
      is_service_account: type === 'service_account',
      is_system_admin: isActive && rights.isSystemAdmin,
      token_id: tokenId,
      client_id: type === 'client' ? id : null,
      tenant_id: tenantId,
      tenants: [tenant],
    });
    if (!isActive) return { principal, tenantId, caller: undefined, size: 0, expiresAt };
    const { scopes, policies, isSystemAdmin } = rights;
    const caller = callerFor({
      service: this.#options.service,
      principal,
      tenant,
      scopes: scopes ? rightsFromScopes(scopes) : everything,
      policies: isSystemAdmin ? everything : rightsFromPolicies(policies),
    });
    return { principal, tenantId, caller, size: policies.length, expiresAt };
  }
}
