import { createPrincipal, type Principal, type PrincipalRights } from '@tessera/contracts';
import { LRUCache } from 'lru-cache';
import { callerFor, type GatedCaller } from './caller.ts';
import { CoherentFetches, type Predicate } from './coherent-fetches.ts';
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
}

interface Entry {
  readonly found: Found;
  readonly expiresAt: number;
}

const CAPACITY = 10_000;
const CAPACITY_IN_POLICIES = 1_000_000;

const keyOf = ({ tenantId, id, type, tokenId }: AbsentPrincipal): string =>
  JSON.stringify([tenantId, type, id, tokenId ?? null]);

/**
 * Caches the rights of principals who are not present. As with callers (decision C2), it does so for a short time, and
 * only while the service receives the events that invalidate them.
 */
export class RightsCache {
  readonly #options: RightsCacheOptions;
  readonly #entries = new LRUCache<string, Entry>({
    max: CAPACITY,
    maxSize: CAPACITY_IN_POLICIES,
    sizeCalculation: ({ found }) => found.size + 1,
  });
  readonly #fetches = new CoherentFetches<Found>();

  constructor(options: RightsCacheOptions) {
    this.#options = options;
  }

  /** The principal as a caller with its current rights; undefined if it cannot act in the tenant. */
  async get(principal: AbsentPrincipal): Promise<IdentityResult<GatedCaller | undefined>> {
    const { stream, clock } = this.#options;
    const key = keyOf(principal);
    const entry = stream() === 'connected' ? this.#entries.get(key) : undefined;
    if (entry && clock() < entry.expiresAt) {
      return { outcome: 'answered', value: entry.found.caller };
    }
    const fetch = (): Promise<IdentityResult<Found>> => this.#fetch(key, principal);
    // Without events, the result of a coalesced request could be outdated.
    const isCoherent = stream() === 'connected';
    const answer = await (isCoherent ? this.#fetches.coalesce(key, fetch) : fetch());
    return answer.outcome === 'answered' ? { ...answer, value: answer.value.caller } : answer;
  }

  /** Removes the principals that an event affects. */
  evict(affects: Predicate<Principal>): void {
    this.#evict(({ principal }) => affects(principal));
  }

  /** Removes the principals whose policies changed. */
  evictPolicies({ tenantId, userIds }: PolicyChange): void {
    this.#evict(
      (found) => found.tenantId === tenantId && (userIds?.includes(found.principal.id) ?? true),
    );
  }

  evictAll(): void {
    this.#evict(() => true);
  }

  #evict(affects: Predicate<Found>): void {
    this.#fetches.evict(affects);
    for (const [key, { found }] of this.#entries.entries()) {
      if (affects(found)) this.#entries.delete(key);
    }
  }

  #fetch(key: string, asked: AbsentPrincipal): Promise<IdentityResult<Found>> {
    const { clock, lifetime } = this.#options;
    const expiresAt = clock() + lifetime;
    const request = async (): Promise<IdentityResult<Found>> => {
      const answer = await this.#options.fetch(asked);
      return answer.outcome === 'answered'
        ? { ...answer, value: this.#found(asked, answer.value) }
        : answer;
    };
    return this.#fetches.fetch(request, (found) => {
      if (this.#options.stream() === 'connected') this.#entries.set(key, { found, expiresAt });
      return true;
    });
  }

  #found(
    { id, type, tokenId = null, tenantId }: AbsentPrincipal,
    rights: PrincipalRights | 'inactive',
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
    if (!isActive) return { principal, tenantId, caller: undefined, size: 0 };
    const { scopes, policies, isSystemAdmin } = rights;
    const caller = callerFor({
      service: this.#options.service,
      principal,
      tenant,
      scopes: scopes ? rightsFromScopes(scopes) : everything,
      policies: isSystemAdmin ? everything : rightsFromPolicies(policies),
    });
    return { principal, tenantId, caller, size: policies.length };
  }
}
