import { hash } from 'node:crypto';
import type { Principal } from '@tessera/contracts';
import type { CacheReading } from '@tessera/telemetry/metrics';
import type { Predicate } from './coherent-fetches.ts';
import { ConnectedCache } from './connected-cache.ts';
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

/** The callers behind tokens, cached by a hash of the token. */
export class PrincipalCache {
  readonly #options: PrincipalCacheOptions;
  readonly #cache: ConnectedCache<AuthenticatedToken>;

  constructor(options: PrincipalCacheOptions) {
    this.#options = options;
    const { stream, clock, lifetime } = options;
    this.#cache = new ConnectedCache({
      stream,
      clock,
      capacity: CAPACITY_IN_TENANTS,
      sizeOf: ({ principal }) => principal.tenants.length + 1,
      expiryOf({ principal }) {
        const tokenExpiry = principal.expires_at?.getTime() ?? Number.POSITIVE_INFINITY;
        return Math.min(clock() + lifetime, tokenExpiry);
      },
    });
  }

  get use(): CacheReading {
    return this.#cache.use;
  }

  /** The caller who presented a token and named a tenant, from the cache or from identity. */
  get(
    token: string,
    tenant: string | undefined,
  ): IdentityResult<AuthenticatedToken> | Promise<IdentityResult<AuthenticatedToken>> {
    return this.#cache.get(
      () => hash('sha256', tenant === undefined ? token : `${token} ${tenant}`, 'base64'),
      async () => withScopes(await this.#options.fetch(token, tenant)),
    );
  }

  /** Removes every caller whom an event affects. */
  evict(affects: Predicate<Principal>): void {
    this.#cache.evict(({ principal }) => affects(principal));
  }

  evictAll(): void {
    this.#cache.evictAll();
  }
}
