import { availableParallelism } from 'node:os';
import { HttpError } from '@tessera/http-kit';
import bcrypt from 'bcrypt';
import pLimit, { type LimitFunction } from 'p-limit';

/** bcrypt reads no further: two passwords that begin alike would be the same. */
const MAX_BYTES = 72;

/** 503: every core is hashing and enough wait already. */
const overloaded = (): HttpError =>
  new HttpError(503, 'overloaded', 'Too many sign-ins are under way. Try again.', {
    headers: { 'Retry-After': '1' },
  });

/** bcrypt in a bounded queue: slow by design, so it must not be the way to take the service down. */
export class Passwords {
  readonly #cost: number;
  readonly #most: number;
  readonly #run: LimitFunction;
  /** A hash of the right cost that no password has: comparing with it takes as long as with a real one. */
  readonly #nobodys: string;

  constructor({ cost, queueLimit }: { readonly cost: number; readonly queueLimit: number }) {
    const cores = availableParallelism();
    this.#cost = cost;
    this.#most = cores + queueLimit;
    this.#run = pLimit(cores);
    this.#nobodys = `$2b$${`${cost}`.padStart(2, '0')}$${'.'.repeat(53)}`;
  }

  /** Hashes a new password of at most 72 bytes. 503 when the queue is full. */
  async hash(password: string): Promise<string> {
    if (Buffer.byteLength(password) > MAX_BYTES) {
      throw new RangeError(`A password has at most ${MAX_BYTES} bytes.`);
    }
    return this.#queued(() => bcrypt.hash(password, this.#cost));
  }

  /**
   * Whether the password has this hash; without a hash it takes as long and is false. 503 when the queue
   * is full.
   */
  async matches(password: string, hash: string | null): Promise<boolean> {
    const known = Buffer.byteLength(password) > MAX_BYTES ? null : hash;
    const equal = await this.#queued(() => bcrypt.compare(password, known ?? this.#nobodys));
    return equal && known !== null;
  }

  /** Whether a hash was made with less work than is asked for today. */
  isOutdated(hash: string): boolean {
    return bcrypt.getRounds(hash) < this.#cost;
  }

  async #queued<T>(work: () => Promise<T>): Promise<T> {
    if (this.#run.activeCount + this.#run.pendingCount >= this.#most) throw overloaded();
    return this.#run(work);
  }
}
