import { hash } from 'node:crypto';
import { type Counters, createFailures, type Failures } from '@tessera/http-kit';
import { LRUCache } from 'lru-cache';
import type { GivenCredentials } from './client-authentication.ts';

/** Seconds. */
const WINDOW = 60;
/** Most accepted credentials that a replica remembers, and for how many milliseconds. */
const [KNOWN, KNOWN_MS] = [10_000, 3_600_000];

/** Failed authentications a minute. */
export interface ClientAttemptLimits {
  /** Of one client from one address. */
  readonly clientAndAddress: number;
  /** From one address, whichever clients are tried. */
  readonly address: number;
  /** Of one client, from anywhere. */
  readonly client: number;
}

/** Longer ids are nobody's: they count by the address alone. */
const LONGEST_ID = 200;

const proofOf = ({ clientId, secret = '' }: GivenCredentials): string =>
  hash('sha256', `${clientId.length}:${clientId}${secret}`, 'base64');

/**
 * Limits how often clients fail to authenticate, before the database is read. Credentials that this replica
 * accepted within the last hour pass in any case. Others do not: while guesses exceed the limit of a client,
 * a client with the right secret can be refused with 429 by a replica that has not accepted it within the
 * last hour, for example after a restart. The limit for each address comes first, so that it takes guesses
 * from several addresses.
 */
export class ClientAttempts {
  readonly #clientAndAddress: Failures;
  readonly #address: Failures;
  readonly #client: Failures;
  /** By SHA-256: nobody reads a secret here. */
  readonly #known = new LRUCache<string, true>({ max: KNOWN, ttl: KNOWN_MS });

  constructor(counters: Pick<Counters, 'store'>, limits: ClientAttemptLimits) {
    const failuresOf = (name: string, most: number): Failures =>
      createFailures({
        name,
        most,
        window: WINDOW,
        store: counters.store(`${name}:`),
        message: 'Too many failed client authentications. Try again later.',
      });
    this.#clientAndAddress = failuresOf('client-failures', limits.clientAndAddress);
    this.#address = failuresOf('client-failures-address', limits.address);
    this.#client = failuresOf('client-failures-total', limits.client);
  }

  /** 429 after too many failures, unless this replica accepted these credentials within the last hour. */
  admit(given: GivenCredentials): void {
    try {
      for (const [failures, key] of this.#counted(given)) failures.demandFew(key);
    } catch (error) {
      if (!this.#known.has(proofOf(given))) throw error;
    }
  }

  succeeded(given: GivenCredentials): void {
    this.#known.set(proofOf(given), true);
  }

  async failed(given: GivenCredentials): Promise<void> {
    this.#known.delete(proofOf(given));
    for (const [failures, key] of this.#counted(given)) await failures.count(key);
  }

  #counted({ clientId, address }: GivenCredentials): [Failures, string][] {
    const byAddress: [Failures, string] = [this.#address, address];
    if (clientId.length > LONGEST_ID) return [byAddress];
    return [
      [this.#clientAndAddress, `${address} ${clientId}`],
      byAddress,
      [this.#client, clientId],
    ];
  }
}
