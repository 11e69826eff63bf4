import type { Policies } from '@tessera/contracts';
import { LRUCache } from 'lru-cache';
import { Fetches } from './fetches.ts';
import type { Answer } from './identity-client.ts';
import { type Rights, rightsOf } from './rights.ts';
import type { StreamState } from './stream.ts';

export interface PolicyCacheOptions {
  ask(token: string): Promise<Answer<Policies>>;
  stream(): StreamState;
  /** Milliseconds since the epoch. */
  clock(): number;
  /** How long policies are kept, in milliseconds, while events tell of changes or never will. */
  lifetime: number;
}

/** Whose policies, in which tenant, and the least version that they must have. */
export interface Holder {
  readonly userId: string;
  readonly tenantId: string;
  readonly version: number | null;
}

export interface PolicyChange {
  readonly tenantId: string;
  readonly version: number;
  /** Null is everybody. */
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
/** Of all kept sets together, so that a few giant ones cannot fill the memory. */
const CAPACITY_IN_POLICIES = 2_000_000;
/** How long policies are kept while the broker is away, in milliseconds. */
const LIFETIME_DISCONNECTED = 30_000;

const keyOf = (tenantId: string, userId: string): string => `${tenantId} ${userId}`;

/** What callers may do, kept for each user and tenant (decision C3). */
export class PolicyCache {
  readonly #options: PolicyCacheOptions;
  readonly #kept = new LRUCache<string, PolicySet>({
    max: CAPACITY,
    maxSize: CAPACITY_IN_POLICIES,
    sizeCalculation: ({ size }) => size + 1,
  });
  /** The newest version of each tenant's policies that anything has told of. */
  readonly #newest = new LRUCache<string, number>({ max: CAPACITY });
  readonly #fetches = new Fetches<PolicySet>();

  constructor(options: PolicyCacheOptions) {
    this.#options = options;
  }

  /** Gives the rights of a caller; `token` is theirs, and asks identity where nothing is kept. */
  async of(holder: Holder, token: string): Promise<Answer<Rights>> {
    const { tenantId, userId, version } = holder;
    const key = keyOf(tenantId, userId);
    if (version !== null) this.#saw(tenantId, version);
    const kept = this.#kept.get(key);
    if (kept && this.#isGood(kept, version)) return { outcome: 'answered', value: kept.rights };
    // By token: what identity says of one token must not be held against another of the same user.
    const answer = await this.#fetches.share(`${key} ${token}`, () =>
      this.#fetch(key, holder, token),
    );
    return answer.outcome === 'answered' ? { ...answer, value: answer.value.rights } : answer;
  }

  /** Forgets what an event has changed. */
  evict({ tenantId, version, userIds }: PolicyChange): void {
    this.#saw(tenantId, version);
    this.#fetches.evicted(
      (set) => set.tenantId === tenantId && (userIds?.includes(set.userId) ?? true),
    );
    for (const userId of userIds ?? []) this.#kept.delete(keyOf(tenantId, userId));
    if (userIds) return;
    for (const [key, set] of this.#kept.entries()) {
      if (set.tenantId === tenantId) this.#kept.delete(key);
    }
  }

  evictAll(): void {
    this.#fetches.evicted(() => true);
    this.#kept.clear();
    this.#newest.clear();
  }

  #isGood({ version, fetchedAt }: PolicySet, needed: number | null): boolean {
    const { stream, clock, lifetime } = this.#options;
    const limit = stream() === 'disconnected' ? LIFETIME_DISCONNECTED : lifetime;
    return clock() - fetchedAt < limit && (version ?? Infinity) >= (needed ?? 0);
  }

  #fetch(key: string, { tenantId, userId }: Holder, token: string): Promise<Answer<PolicySet>> {
    const ask = async (): Promise<Answer<PolicySet>> => {
      const fetchedAt = this.#options.clock();
      const answer = await this.#options.ask(token);
      if (answer.outcome !== 'answered') return answer;
      const { policies, version } = answer.value;
      const size = policies.length;
      const rights = rightsOf(policies);
      return { ...answer, value: { userId, tenantId, version, rights, size, fetchedAt } };
    };
    return this.#fetches.fetch(ask, (set) => {
      if (set.version !== undefined && set.version < (this.#newest.get(tenantId) ?? 0))
        return false;
      if (set.version !== undefined) this.#saw(tenantId, set.version);
      this.#kept.set(key, set);
      return true;
    });
  }

  #saw(tenantId: string, version: number): void {
    if (version > (this.#newest.get(tenantId) ?? -1)) this.#newest.set(tenantId, version);
  }
}
