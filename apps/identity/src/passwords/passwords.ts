import { availableParallelism } from 'node:os';
import type { FieldErrors } from '@tessera/fields';
import { HttpError, InFlight, invalidField } from '@tessera/http-kit';
import bcrypt from 'bcrypt';
import pLimit, { type LimitFunction } from 'p-limit';
import type { Registry } from 'prom-client';
import { CommonPasswords } from './common-passwords.ts';
import { type HashQueueMetrics, registerHashQueue } from './hash-queue-metrics.ts';
import {
  brokenContent,
  brokenForm,
  isTooLongToHash,
  MAX_PASSWORD_BYTES,
  messageOfRule,
  normalisedPassword,
  type PasswordOwner,
} from './password-rules.ts';

/** 503: all cores are hashing and the queue is full. */
const overloaded = (): HttpError =>
  new HttpError(503, 'overloaded', 'Too many sign-ins are running. Try again.', {
    headers: { 'Retry-After': '1' },
  });

export interface PasswordSettings {
  /** bcrypt cost: each increment doubles the work. */
  readonly cost: number;
  /** Maximum number of operations that wait for a core. */
  readonly queueLimit: number;
  /** Minimum length of a new password, in characters. */
  readonly minLength: number;
  /** The name of the service, which no password may contain. */
  readonly brandName: string;
  /** The number of processes that share the cores. Default 1. */
  readonly workers?: number;
}

/** A hash that matches no password; comparing with it takes as long as with a real one of that cost. */
const dummyHash = (cost: number): string => `$2b$${`${cost}`.padStart(2, '0')}$${'.'.repeat(53)}`;

/** The share of the queue that one account can fill. */
const SHARE = 1 / 4;

/**
 * Checks new passwords, and runs bcrypt in a bounded queue, because slow hashing could be used to overload the
 * service. No account can fill more than a share of the queue.
 */
export class Passwords {
  readonly #cost: number;
  readonly #highestStoredCost: () => Promise<number>;
  readonly #minLength: number;
  readonly #brandName: string;
  readonly #common = new CommonPasswords();
  readonly #most: number;
  readonly #run: LimitFunction;
  /** Operations waiting or running, by account. */
  readonly #ofAccounts: InFlight;
  readonly #metrics: HashQueueMetrics | undefined;

  /** `highestStoredCost` returns the highest bcrypt cost of the stored passwords. */
  constructor(
    { cost, queueLimit, minLength, brandName, workers = 1 }: PasswordSettings,
    highestStoredCost: () => Promise<number>,
    registry?: Registry,
  ) {
    const cores = Math.ceil(availableParallelism() / workers);
    this.#cost = cost;
    this.#highestStoredCost = highestStoredCost;
    this.#minLength = minLength;
    this.#brandName = brandName;
    this.#most = cores + queueLimit;
    this.#ofAccounts = new InFlight(Math.max(1, Math.floor(this.#most * SHARE)));
    this.#run = pLimit(cores);
    this.#metrics =
      registry &&
      registerHashQueue(registry, {
        waiting: () => this.#run.pendingCount,
        running: () => this.#run.activeCount,
        limit: queueLimit,
      });
  }

  /** A message for each rule, except reuse, that a new password of this person breaks. */
  problems(password: string, owner: PasswordOwner): string[] {
    const rules = [
      ...brokenForm(password, this.#minLength),
      ...(this.#common.includes(normalisedPassword(password)) ? (['common'] as const) : []),
      ...brokenContent(password, owner, this.#brandName),
    ];
    return rules.map((rule) => messageOfRule(rule, this.#minLength));
  }

  /** The errors of a new password and its confirmation, by field; empty if both are valid. */
  errors(
    field: string,
    { password, confirmation }: { readonly password: string; readonly confirmation: string },
    owner: PasswordOwner,
  ): FieldErrors {
    const problems = this.problems(password, owner);
    const isConfirmed = normalisedPassword(password) === normalisedPassword(confirmation);
    const errors: FieldErrors = {};
    if (problems.length > 0) errors[field] = problems;
    if (!isConfirmed) errors[`${field}_confirmation`] = [`it must be the same as ${field}`];
    return errors;
  }

  /** 422 on the field: the password was used recently. */
  reused(field: string): HttpError {
    return invalidField(field, messageOfRule('reused', this.#minLength));
  }

  /** Hashes a new password of at most 72 bytes. 503 when the queue is full. */
  async hash(given: string, account: string): Promise<string> {
    const password = normalisedPassword(given);
    if (isTooLongToHash(password)) {
      throw new RangeError(`A password has at most ${MAX_PASSWORD_BYTES} bytes.`);
    }
    return this.#queued(account, () => bcrypt.hash(password, this.#cost));
  }

  /**
   * Whether the password matches the hash. A mismatch takes as long as one with the strongest hash that is stored
   * or created, whatever the cost of this hash, and without a hash. 503 when the queue is full.
   */
  async matches(given: string, stored: string | null, account: string): Promise<boolean> {
    const password = normalisedPassword(given);
    const known = isTooLongToHash(password) ? null : stored;
    // Other processes may create hashes with a different cost, so the cost is read each time.
    const highest = Math.max(this.#cost, await this.#highestStoredCost());
    const hash = known ?? dummyHash(highest);
    const equal = await this.#queued(account, () => this.#compare(password, hash, highest));
    return equal && known !== null;
  }

  /** Whether the password matches any of these hashes. 503 when the queue is full. */
  async matchesAny(password: string, hashes: readonly string[], account: string): Promise<boolean> {
    for (const hash of hashes) if (await this.matches(password, hash, account)) return true;
    return false;
  }

  /** Whether a hash has a lower cost than configured. */
  isOutdated(hash: string): boolean {
    return bcrypt.getRounds(hash) < this.#cost;
  }

  /** After a mismatch, compares once per cost up to the highest one: together with the first, the same work. */
  async #compare(password: string, hash: string, highest: number): Promise<boolean> {
    if (await bcrypt.compare(password, hash)) return true;
    for (let cost = bcrypt.getRounds(hash); cost < highest; cost += 1) {
      await bcrypt.compare(password, dummyHash(cost));
    }
    return false;
  }

  async #queued<T>(account: string, work: () => Promise<T>): Promise<T> {
    const isFull = this.#run.activeCount + this.#run.pendingCount >= this.#most;
    if (isFull || !this.#ofAccounts.begin(account)) {
      this.#metrics?.rejected();
      throw overloaded();
    }
    const queuedAt = performance.now();
    try {
      return await this.#run(() => this.#measured(queuedAt, work));
    } finally {
      this.#ofAccounts.end(account);
    }
  }

  async #measured<T>(queuedAt: number, work: () => Promise<T>): Promise<T> {
    const startedAt = performance.now();
    this.#metrics?.waited((startedAt - queuedAt) / 1000);
    try {
      return await work();
    } finally {
      this.#metrics?.ran((performance.now() - startedAt) / 1000);
    }
  }
}
