import type { FieldErrors } from '@tessera/fields';
import { type HttpError, invalidField } from '@tessera/http-kit';
import bcrypt from 'bcrypt';
import type { Registry } from 'prom-client';
import { CommonPasswords } from './common-passwords.ts';
import { HashQueue, type HashQueueSettings } from './hash-queue.ts';
import type { HashingFor } from './hashing-for.ts';
import {
  brokenContent,
  brokenForm,
  isTooLongToHash,
  MAX_PASSWORD_BYTES,
  messageOfRule,
  normalisedPassword,
  type PasswordOwner,
} from './password-rules.ts';

export interface PasswordSettings extends HashQueueSettings {
  /** bcrypt cost: each increment doubles the work. */
  readonly cost: number;
  /** Minimum length of a new password, in characters. */
  readonly minLength: number;
  /** The name of the service, which no password may contain. */
  readonly brandName: string;
}

/** A hash that matches no password; comparing with it takes as long as with a real one of that cost. */
const dummyHash = (cost: number): string => `$2b$${`${cost}`.padStart(2, '0')}$${'.'.repeat(53)}`;

/** Checks new passwords, and runs bcrypt in a bounded queue, because slow hashing could be used to overload the service. */
export class Passwords {
  readonly #cost: number;
  readonly #highestStoredCost: () => Promise<number>;
  readonly #minLength: number;
  readonly #brandName: string;
  readonly #common = new CommonPasswords();
  readonly #queue: HashQueue;

  /** `highestStoredCost` returns the highest bcrypt cost of the stored passwords. */
  constructor(
    settings: PasswordSettings,
    highestStoredCost: () => Promise<number>,
    registry?: Registry,
  ) {
    this.#cost = settings.cost;
    this.#highestStoredCost = highestStoredCost;
    this.#minLength = settings.minLength;
    this.#brandName = settings.brandName;
    this.#queue = new HashQueue(settings, registry);
  }

  /** A message for each rule, except reuse, that a new password of this person breaks. */
  problems(password: string, owner: PasswordOwner): string[] {
    const normalised = normalisedPassword(password);
    // No common password is too long, and searching for a long text takes much longer.
    const isCommon = !isTooLongToHash(normalised) && this.#common.includes(normalised);
    const rules = [
      ...brokenForm(password, this.#minLength),
      ...(isCommon ? (['common'] as const) : []),
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

  /** Hashes a new password of at most 72 bytes. 503 when the queue has no place for them. */
  async hash(given: string, who: HashingFor): Promise<string> {
    const password = normalisedPassword(given);
    if (isTooLongToHash(password)) {
      throw new RangeError(`A password has at most ${MAX_PASSWORD_BYTES} bytes.`);
    }
    return this.#queue.run(who, () => bcrypt.hash(password, this.#cost));
  }

  /**
   * Whether the password matches the hash. A mismatch takes as long as one with the strongest hash that is stored
   * or created, whatever the cost of this hash, and without a hash. 503 when the queue has no place for them.
   */
  async matches(given: string, stored: string | null, who: HashingFor): Promise<boolean> {
    const password = normalisedPassword(given);
    const known = isTooLongToHash(password) ? null : stored;
    // Other processes may create hashes with a different cost, so the cost is read each time.
    const highest = Math.max(this.#cost, await this.#highestStoredCost());
    const hash = known ?? dummyHash(highest);
    const equal = await this.#queue.run(who, () => this.#compare(password, hash, highest));
    return equal && known !== null;
  }

  /** Whether the password matches any of these hashes. 503 when the queue has no place for them. */
  async matchesAny(password: string, hashes: readonly string[], who: HashingFor): Promise<boolean> {
    for (const hash of hashes) if (await this.matches(password, hash, who)) return true;
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
}
