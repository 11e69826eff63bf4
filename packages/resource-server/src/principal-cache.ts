import { hash } from 'node:crypto';
import type { Principal } from '@tessera/contracts';
import { LRUCache } from 'lru-cache';
import { type Concerns, Fetches } from './fetches.ts';
import type { Answer } from './identity-client.ts';
import { type Rights, rightsWithin } from './rights.ts';
import type { StreamState } from './stream.ts';

/** A caller as identity knows them, with the limits of their token compiled. */
export interface AuthenticatedToken {
  readonly principal: Principal;
  /** What the token's scopes leave; absent where it has none. */
  readonly scopes?: Rights;
}

export interface PrincipalCacheOptions {
  ask(token: string, tenant: string | undefined): Promise<Answer<Principal>>;
  stream(): StreamState;
  /** Milliseconds since the epoch. */
  clock(): number;
  /** How long an answer is kept at most, in milliseconds. */
  lifetime: number;
}

interface Kept {
  /** As it is given out; made once, since a busy caller takes it thousands of times. */
  readonly answer: Answer<AuthenticatedToken>;
  readonly principal: Principal;
  readonly until: number;
}

const CAPACITY = 10_000;
/** Of all kept callers together: an administrator may have thousands of tenants. */
const CAPACITY_IN_TENANTS = 200_000;

const authenticated = (answer: Answer<Principal>): Answer<AuthenticatedToken> => {
  if (answer.outcome !== 'answered') return answer;
  const { value: principal } = answer;
  const { scopes } = principal;
  return {
    outcome: 'answered',
    value: { principal, ...(scopes && { scopes: rightsWithin(scopes) }) },
  };
};

/**
 * Who presented a token (decision C2). Answers are kept under a hash of the token, and only while
 * events would tell that one has become wrong; refusals are never kept.
 */
export class PrincipalCache {
  readonly #options: PrincipalCacheOptions;
  readonly #kept = new LRUCache<string, Kept>({
    max: CAPACITY,
    maxSize: CAPACITY_IN_TENANTS,
    sizeCalculation: ({ principal }) => principal.tenants.length + 1,
  });
  readonly #fetches = new Fetches<AuthenticatedToken>();

  constructor(options: PrincipalCacheOptions) {
    this.#options = options;
  }

  /** Gives who presents the token, in the tenant that they named by its slug. */
  of(
    token: string,
    tenant: string | undefined,
  ): Answer<AuthenticatedToken> | Promise<Answer<AuthenticatedToken>> {
    const { stream, clock } = this.#options;
    // Nobody may wait for an answer that is older than their request where no event would correct it.
    if (stream() !== 'connected') return this.#fetch(token, tenant);
    const key = hash('sha256', tenant === undefined ? token : `${token} ${tenant}`, 'base64');
    const kept = this.#kept.get(key);
    if (kept && clock() < kept.until) return kept.answer;
    return this.#fetches.share(key, () => this.#fetch(token, tenant, key));
  }

  /** Forgets every caller whom an event concerns. */
  evict(concerns: Concerns<Principal>): void {
    this.#fetches.evicted(({ principal }) => concerns(principal));
    for (const [key, { principal }] of this.#kept.entries()) {
      if (concerns(principal)) this.#kept.delete(key);
    }
  }

  evictAll(): void {
    this.#fetches.evicted(() => true);
    this.#kept.clear();
  }

  #fetch(
    token: string,
    tenant: string | undefined,
    key?: string,
  ): Promise<Answer<AuthenticatedToken>> {
    const ask = async () => authenticated(await this.#options.ask(token, tenant));
    return this.#fetches.fetch(ask, (value) => {
      if (key !== undefined) this.#keep(key, value);
      return true;
    });
  }

  #keep(key: string, value: AuthenticatedToken): void {
    const { stream, clock, lifetime } = this.#options;
    if (stream() !== 'connected') return;
    const { principal } = value;
    const end = principal.expires_at?.getTime() ?? Number.POSITIVE_INFINITY;
    const until = Math.min(clock() + lifetime, end);
    this.#kept.set(key, { answer: { outcome: 'answered', value }, principal, until });
  }
}
