import { availableParallelism } from 'node:os';
import { FairQueue, QueueFull } from '@tessera/fair-shares';
import { HttpError, InFlight } from '@tessera/http-kit';
import type { Registry } from 'prom-client';
import { type HashQueueMetrics, registerHashQueue } from './hash-queue-metrics.ts';
import type { HashingFor } from './hashing-for.ts';

export interface HashQueueSettings {
  /** Maximum number of operations of each kind that wait for a core. */
  readonly queueLimit: number;
  /** The number of processes that share the cores. Default 1. */
  readonly workers?: number;
}

/** The share of the operations of a kind that one account can have. */
const SHARE = 1 / 4;
const MAX_WAIT_MS = 10_000;
/** `HashingFor` has three kinds; a fourth lets each of them wait with as many operations as there are cores. */
const KINDS = 4;

/** 503: all cores are hashing, and this caller has no place in the queue. */
const overloaded = (): HttpError =>
  new HttpError(503, 'overloaded', 'Too many sign-ins are running. Try again.', {
    headers: { 'Retry-After': '1' },
  });

/**
 * The bounded queue of slow hashes, with as many at a time as there are cores. The kinds (sign-ins, what signed-in people do,
 * and the rest, such as registrations) take turns, so that no kind delays another by more than one hash for each core. Each
 * kind has its own places to wait, and the rest has half of the cores. Within a kind, callers (client addresses, or accounts of signed-in people) take turns; one
 * of them has at most half of the places, and one account at most a quarter, whoever asks. Otherwise, a caller alone uses all cores.
 */
export class HashQueue {
  readonly #cores: number;
  readonly #settings: HashQueueSettings;
  readonly #ofKinds = new Map<string, FairQueue>();
  readonly #kinds: FairQueue;
  /** Operations that wait or run, by kind and account. */
  readonly #ofAccounts: InFlight;
  readonly #metrics: HashQueueMetrics | undefined;

  constructor(settings: HashQueueSettings, registry?: Registry) {
    const { queueLimit, workers = 1 } = settings;
    this.#settings = settings;
    this.#cores = Math.ceil(availableParallelism() / workers);
    this.#kinds = new FairQueue({
      concurrency: this.#cores,
      portion: 'all',
      waiting: KINDS * this.#cores,
    });
    this.#ofAccounts = new InFlight(Math.max(1, Math.floor((this.#cores + queueLimit) * SHARE)));
    this.#metrics =
      registry &&
      registerHashQueue(registry, {
        waiting: () => this.#waiting,
        running: () => this.#kinds.running,
        limit: queueLimit,
      });
  }

  /** Runs `work` when a core is free. 503 if there is no place to wait, or the turn does not come in time. */
  async run<T>(who: HashingFor, work: () => Promise<T>): Promise<T> {
    const { kind, caller } = who;
    const account = `${kind} ${who.account}`;
    if (!this.#ofAccounts.begin(account)) throw this.#refused();
    const queuedAt = performance.now();
    try {
      return await this.#queueOf(kind).run(caller, () =>
        this.#kinds.run(kind, () => this.#measured(queuedAt, work)),
      );
    } catch (error) {
      throw error instanceof QueueFull ? this.#refused() : error;
    } finally {
      this.#ofAccounts.end(account);
    }
  }

  get #waiting(): number {
    return [...this.#ofKinds.values()].reduce(
      (sum, { waiting }) => sum + waiting,
      this.#kinds.waiting,
    );
  }

  #refused(): HttpError {
    this.#metrics?.rejected();
    return overloaded();
  }

  #queueOf(kind: string): FairQueue {
    const known = this.#ofKinds.get(kind);
    if (known) return known;
    const isAnonymous = kind === 'anonymous';
    const queue = new FairQueue({
      concurrency: isAnonymous ? Math.ceil(this.#cores / 2) : this.#cores,
      portion: 'all',
      waiting: this.#settings.queueLimit,
      maxWaitMs: MAX_WAIT_MS,
    });
    this.#ofKinds.set(kind, queue);
    return queue;
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
