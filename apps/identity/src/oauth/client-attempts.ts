import { hash } from 'node:crypto';
import { type Counters, createFailures, type Failures } from '@tessera/http-kit';
import { LRUCache } from 'lru-cache';
import type { PresentedCredentials } from './client-authentication.ts';

/** Seconds. */
const WINDOW = 60;
/** How many accepted credentials a replica remembers, and for how many milliseconds. */
const [REMEMBERED, REMEMBERED_MS] = [10_000, 3_600_000];

/** Failed authentications per minute. */
export interface ClientAttemptLimits {
  /** Of one client from one address. */
  readonly clientAndAddress: number;
  /** From one address, all clients together. */
  readonly address: number;
  /** Of one client, all addresses together. */
  readonly client: number;
}

/** Longer ids belong to no client: they count by address only. */
const MAX_ID_LENGTH = 200;

const credentialsHash = ({ clientId, secret = '' }: PresentedCredentials): string =>
  hash('sha256', `${clientId.length}:${clientId}${secret}`, 'base64');

/**
 * Limits how often clients fail to authenticate, before the database is read. Credentials that this replica
 * accepted within the last hour always pass. Other credentials do not: while the failures of a client exceed
 * its limit, even the right secret gets 429 from a replica that has not accepted it within the last hour, for
 * example after a restart. Because of the limits by address, this takes failures from several addresses.
 */
export class ClientAttempts {
  readonly #clientAndAddress: Failures;
  readonly #address: Failures;
  readonly #client: Failures;
  /** By SHA-256, so that no secret is kept in memory. */
  readonly #accepted = new LRUCache<string, true>({ max: REMEMBERED, ttl: REMEMBERED_MS });

  constructor(counters: Pick<Counters, 'store'>, limits: ClientAttemptLimits) {
    const failuresOf = (name: string, limit: number): Failures =>
      createFailures({
        name,
        limit,
        window: WINDOW,
        store: counters.store(`${name}:`),
        message: 'Too many failed client authentications. Try again later.',
      });
    this.#clientAndAddress = failuresOf('client-failures', limits.clientAndAddress);
    this.#address = failuresOf('client-failures-address', limits.address);
    this.#client = failuresOf('client-failures-total', limits.client);
  }

  /** 429 after too many failures, unless this replica accepted these credentials within the last hour. */
  admit(credentials: PresentedCredentials): void {
    try {
      for (const [failures, key] of this.#countersOf(credentials)) failures.requireBelowLimit(key);
    } catch (error) {
      if (!this.#accepted.has(credentialsHash(credentials))) throw error;
    }
  }

  succeeded(credentials: PresentedCredentials): void {
    this.#accepted.set(credentialsHash(credentials), true);
  }

  async failed(credentials: PresentedCredentials): Promise<void> {
    this.#accepted.delete(credentialsHash(credentials));
    for (const [failures, key] of this.#countersOf(credentials)) await failures.count(key);
  }

  #countersOf({ clientId, address }: PresentedCredentials): [Failures, string][] {
    const byAddress: [Failures, string] = [this.#address, address];
    if (clientId.length > MAX_ID_LENGTH) return [byAddress];
    return [
      [this.#clientAndAddress, `${address} ${clientId}`],
      byAddress,
      [this.#client, clientId],
    ];
  }
}
