import { hash } from 'node:crypto';
import type { Principal } from '@tessera/contracts';
import { LRUCache } from 'lru-cache';
import { CoherentFetches, type Predicate } from './coherent-fetches.ts';
import type { IdentityResult } from './identity-client.ts';
import { type Rights, rightsFromScopes } from './rights.ts';
import type { StreamState } from './stream.ts';

/** The caller behind a token, and what the token's scopes cover. */
export interface AuthenticatedToken {
  readonly principal: Principal;
  /** Absent if the token has no scopes: it is not limited. */
  readonly scopes?: Rights;
}

export interface PrincipalCacheOptions {
  /** Asks identity who presented a token; `tenant` is the slug in `X-Tenant`. */
  fetch(token: string, tenant: string | undefined): Promise<IdentityResult<Principal>>;
  stream(): StreamState;
  /** Milliseconds since the epoch. */
  clock(): number;
  /** How long an answer is cached at most, in milliseconds. */
  lifetime: number;
}

interface Entry {
  /** Built once, because a busy caller gets it thousands of times. */
  readonly answer: IdentityResult<AuthenticatedToken>;
  readonly principal: Principal;
  readonly expiresAt: number;
}

const CAPACITY = 10_000;
/** The tenants of all cached callers together: an administrator may have thousands. */
const CAPACITY_IN_TENANTS = 200_000;

const withScopes = (answer: IdentityResult<Principal>): IdentityResult<AuthenticatedToken> => {
  if (answer.outcome !== 'answered') return answer;
  const { value: principal } = answer;
  const { scopes } = principal;
  return {
    outcome: 'answered',
    value: { principal, ...(scopes && { scopes: rightsFromScopes(scopes) }) },
  };
};

/**
 * The callers behind tokens (decision C2). Answers are cached by a hash of the token, and only while events
 * would report that one has become wrong; refusals are never cached.
 */
export class PrincipalCache {
  readonly #options: PrincipalCacheOptions;
  readonly #entries = new LRUCache<string, Entry>({
    max: CAPACITY,
    maxSize: CAPACITY_IN_TENANTS,
    sizeCalculation: ({ principal }) => principal.tenants.length + 1,
  });
  readonly #fetches = new CoherentFetches<AuthenticatedToken>();

  constructor(options: PrincipalCacheOptions) {
    this.#options = options;
  }

  /** The caller who presented a token and named a tenant, from the cache or from identity. */
  get(
    token: string,
    tenant: string | undefined,
  ): IdentityResult<AuthenticatedToken> | Promise<IdentityResult<AuthenticatedToken>> {
    const { stream, clock } = this.#options;
    // Without events, a coalesced answer could be older than the request that waits for it.
    if (stream() !== 'connected') return this.#fetch(token, tenant);
    const key = hash('sha256', tenant === undefined ? token : `${token} ${tenant}`, 'base64');
    const entry = this.#entries.get(key);
    if (entry && clock() < entry.expiresAt) return entry.answer;
    return this.#fetches.coalesce(key, () => this.#fetch(token, tenant, key));
  }

  /** Removes every caller whom an event affects. */
  evict(affects: Predicate<Principal>): void {
    this.#fetches.evict(({ principal }) => affects(principal));
    for (const [key, { principal }] of this.#entries.entries()) {
      if (affects(principal)) this.#entries.delete(key);
    }
  }

  evictAll(): void {
    this.#fetches.evict(() => true);
    this.#entries.clear();
  }

  #fetch(
    token: string,
    tenant: string | undefined,
    key?: string,
  ): Promise<IdentityResult<AuthenticatedToken>> {
    const request = async () => withScopes(await this.#options.fetch(token, tenant));
    return this.#fetches.fetch(request, (value) => {
      if (key !== undefined) this.#store(key, value);
      return true;
    });
  }

  #store(key: string, value: AuthenticatedToken): void {
    const { stream, clock, lifetime } = this.#options;
    if (stream() !== 'connected') return;
    const { principal } = value;
    const tokenExpiry = principal.expires_at?.getTime() ?? Number.POSITIVE_INFINITY;
    const expiresAt = Math.min(clock() + lifetime, tokenExpiry);
    this.#entries.set(key, { answer: { outcome: 'answered', value }, principal, expiresAt });
  }
}
