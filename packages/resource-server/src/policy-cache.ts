import type { Policies } from '@tessera/contracts';
import { type CacheReading, CacheUse } from '@tessera/telemetry/metrics';
import { LRUCache } from 'lru-cache';
import { CoherentFetches } from './coherent-fetches.ts';
import type { IdentityResult } from './identity-client.ts';
import { type Rights, rightsFromPolicies } from './rights.ts';
import type { StreamState } from './stream.ts';

export interface PolicyCacheOptions {
  /** Asks identity for the effective policies of a token's holder. */
  fetch(token: string): Promise<IdentityResult<Policies>>;
  stream(): StreamState;
  /** Milliseconds since the epoch. */
  clock(): number;
  /** How long policies are cached at most, in milliseconds, unless the broker is unavailable. */
  lifetime: number;
}

/** The user whose policies are requested, in which tenant, and the lowest version that is acceptable. */
export interface Holder {
  readonly userId: string;
  readonly tenantId: string;
  readonly version: number | null;
}

export interface PolicyChange {
  readonly tenantId: string;
  readonly version: number;
  /** The users whose policies changed; null for everyone in the tenant. */
  readonly userIds: readonly string[] | null;
}

interface PolicySet {
  readonly userId: string;
  readonly tenantId: string;
  readonly version: number | undefined;
  readonly rights: Rights;
  readonly size: number;
  readonly fetchedAt: number;
}

const CAPACITY = 10_000;
/** The policies of all cached sets together, so that a few huge sets cannot fill the memory. */
const CAPACITY_IN_POLICIES = 2_000_000;
/** How long policies are cached at most while the broker is unavailable, in milliseconds. */
const LIFETIME_DISCONNECTED = 30_000;

const keyOf = (tenantId: string, userId: string): string => `${tenantId} ${userId}`;

/** What callers may do, cached by user and tenant (decision C3). */
export class PolicyCache {
  readonly #options: PolicyCacheOptions;
  readonly #entries = new LRUCache<string, PolicySet>({
    max: CAPACITY,
    maxSize: CAPACITY_IN_POLICIES,
    sizeCalculation: ({ size }) => size + 1,
  });
  /** The newest version of each tenant's policies that an event or an answer reported. */
  readonly #newestVersions = new LRUCache<string, number>({ max: CAPACITY });
  readonly #fetches = new CoherentFetches<PolicySet>();
  readonly #use = new CacheUse(() => this.#entries.size);

  constructor(options: PolicyCacheOptions) {
    this.#options = options;
  }

  get use(): CacheReading {
    return this.#use;
  }

  /** The rights of a caller, from the cache or from identity, which is asked with the caller's own token. */
  async get(holder: Holder, token: string): Promise<IdentityResult<Rights>> {
    const { tenantId, userId, version } = holder;
    const key = keyOf(tenantId, userId);
    if (version !== null) this.#reportVersion(tenantId, version);
    const entry = this.#entries.get(key);
    const isHit = entry !== undefined && this.#isCurrent(entry, version);
    this.#use.note(isHit);
    if (isHit) {
      return { outcome: 'answered', value: entry.rights };
    }
    // By token: a refusal of one token must not be the answer for another token of the same user.
    const answer = await this.#fetches.coalesce(`${key} ${token}`, () =>
      this.#fetch(key, holder, token),
    );
    return answer.outcome === 'answered' ? { ...answer, value: answer.value.rights } : answer;
  }

  /** Removes the sets that an event reports as changed. */
  evict({ tenantId, version, userIds }: PolicyChange): void {
    this.#reportVersion(tenantId, version);
    this.#fetches.evict(
      (set) => set.tenantId === tenantId && (userIds?.includes(set.userId) ?? true),
    );
    for (const userId of userIds ?? []) this.#entries.delete(keyOf(tenantId, userId));
    if (userIds) return;
    for (const [key, set] of this.#entries.entries()) {
      if (set.tenantId === tenantId) this.#entries.delete(key);
    }
  }

  evictAll(): void {
    this.#fetches.evict(() => true);
    this.#entries.clear();
    this.#newestVersions.clear();
  }

  #isCurrent({ version, fetchedAt }: PolicySet, required: number | null): boolean {
    const { stream, clock, lifetime } = this.#options;
    const limit =
      stream() === 'disconnected' ? Math.min(LIFETIME_DISCONNECTED, lifetime) : lifetime;
    return clock() - fetchedAt < limit && (version ?? Infinity) >= (required ?? 0);
  }

  #fetch(
    key: string,
    { tenantId, userId }: Holder,
    token: string,
  ): Promise<IdentityResult<PolicySet>> {
    const request = async (): Promise<IdentityResult<PolicySet>> => {
      const fetchedAt = this.#options.clock();
      const answer = await this.#options.fetch(token);
      if (answer.outcome !== 'answered') return answer;
      const { policies, version } = answer.value;
      const size = policies.length;
      const rights = rightsFromPolicies(policies);
      return { ...answer, value: { userId, tenantId, version, rights, size, fetchedAt } };
    };
    return this.#fetches.fetch(request, (set) => {
      const newest = this.#newestVersions.get(tenantId) ?? 0;
      if (set.version !== undefined && set.version < newest) return false;
      if (set.version !== undefined) this.#reportVersion(tenantId, set.version);
      this.#entries.set(key, set);
      return true;
    });
  }

  #reportVersion(tenantId: string, version: number): void {
    const newest = this.#newestVersions.get(tenantId) ?? -1;
    if (version > newest) this.#newestVersions.set(tenantId, version);
  }
}
