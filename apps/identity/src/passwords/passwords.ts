import { availableParallelism } from 'node:os';
import type { FieldErrors } from '@tessera/fields';
import { HttpError, InFlight, invalidField } from '@tessera/http-kit';
import bcrypt from 'bcrypt';
import pLimit, { type LimitFunction } from 'p-limit';
import { CommonPasswords } from './common-passwords.ts';
import {
  brokenContent,
  brokenForm,
  isTooLongToHash,
  MAX_PASSWORD_BYTES,
  messageOfRule,
  normalisedPassword,
  type PasswordOwner,
} from './password-rules.ts';

/** 503: every core is hashing and enough wait already. */
const overloaded = (): HttpError =>
  new HttpError(503, 'overloaded', 'Too many sign-ins are under way. Try again.', {
    headers: { 'Retry-After': '1' },
  });

export interface PasswordSettings {
  /** Of bcrypt: each step doubles the work. */
  readonly cost: number;
  /** How many may wait for a core. */
  readonly queueLimit: number;
  /** Fewest characters of a new password. */
  readonly minLength: number;
  /** What the service is called: no password may contain it. */
  readonly brandName: string;
}

/** A hash that no password has: comparing with it takes as long as with a real one of that cost. */
const nobodysHash = (cost: number): string => `$2b$${`${cost}`.padStart(2, '0')}$${'.'.repeat(53)}`;

/** The part of the queue that one account may fill. */
const SHARE = 1 / 4;

/**
 * What new passwords must be, and bcrypt in a bounded queue: slow by design, so it must not be the way to take
 * the service down. Each call names the account that it is for: no account gets more than a share of the queue.
 */
export class Passwords {
  readonly #cost: number;
  readonly #minLength: number;
  readonly #brandName: string;
  readonly #common = new CommonPasswords();
  readonly #most: number;
  readonly #run: LimitFunction;
  /** By account: how much is waiting or running. */
  readonly #ofAccounts: InFlight;

  constructor({ cost, queueLimit, minLength, brandName }: PasswordSettings) {
    const cores = availableParallelism();
    this.#cost = cost;
    this.#minLength = minLength;
    this.#brandName = brandName;
    this.#most = cores + queueLimit;
    this.#ofAccounts = new InFlight(Math.max(1, Math.floor(this.#most * SHARE)));
    this.#run = pLimit(cores);
  }

  /** Every rule that a new password of this person breaks, but for its history; a message each. */
  problems(password: string, owner: PasswordOwner): string[] {
    const rules = [
      ...brokenForm(password, this.#minLength),
      ...(this.#common.includes(normalisedPassword(password)) ? (['common'] as const) : []),
      ...brokenContent(password, owner, this.#brandName),
    ];
    return rules.map((rule) => messageOfRule(rule, this.#minLength));
  }

  /** What is wrong with a new password and its confirmation, for an answer; empty where nothing is. */
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

  /** 422 on the field: the password is one of those that may not come back. */
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
   * Whether the password has this hash; without a hash, or with one that was made with less work, a no
   * takes as long. 503 when the queue is full.
   */
  async matches(given: string, kept: string | null, account: string): Promise<boolean> {
    const password = normalisedPassword(given);
    const known = isTooLongToHash(password) ? null : kept;
    const hash = known ?? nobodysHash(this.#cost);
    const equal = await this.#queued(account, () => this.#compare(password, hash));
    return equal && known !== null;
  }

  /** Whether the password has any of these hashes. 503 when the queue is full. */
  async matchesAny(password: string, hashes: readonly string[], account: string): Promise<boolean> {
    for (const hash of hashes) if (await this.matches(password, hash, account)) return true;
    return false;
  }

  /** Whether a hash was made with less work than is asked for today. */
  isOutdated(hash: string): boolean {
    return bcrypt.getRounds(hash) < this.#cost;
  }

  /** Each step of the cost doubles the work, so that those up to today's add up to what is missing. */
  async #compare(password: string, hash: string): Promise<boolean> {
    if (await bcrypt.compare(password, hash)) return true;
    for (let cost = bcrypt.getRounds(hash); cost < this.#cost; cost += 1) {
      await bcrypt.compare(password, nobodysHash(cost));
    }
    return false;
  }

  async #queued<T>(account: string, work: () => Promise<T>): Promise<T> {
    const isFull = this.#run.activeCount + this.#run.pendingCount >= this.#most;
    if (isFull || !this.#ofAccounts.begin(account)) throw overloaded();
    try {
      return await this.#run(work);
    } finally {
      this.#ofAccounts.end(account);
    }
  }
}
