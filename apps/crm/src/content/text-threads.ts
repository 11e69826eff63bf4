import { extname } from 'node:path';
import { sourceFlags } from '@tessera/content-worker';
import { FairQueue, QueueFull, Shares } from '@tessera/fair-shares';
import { HttpError } from '@tessera/http-kit';
import { Piscina } from 'piscina';
import { MAX_BODY } from './content.schema.ts';
import type { diff, render } from './text-thread.ts';

/** One of them is left to others while a tenant has long texts. */
const THREADS = 2;
/** Of each thread; the most that a body needs is less than 96. */
const MEBIBYTES = 128;
const IDLE_MS = 60_000;
/** How many characters are processed or wait. A tenant has half of what the others leave: 18 of the longest bodies if it is alone. */
const MAX_CHARACTERS = 36 * MAX_BODY;
const RETRY_SECONDS = 5;

/** What a thread does with texts. */
interface TextWork {
  readonly render: typeof render;
  readonly diff: typeof diff;
}

type Input<K extends keyof TextWork> = Parameters<TextWork[K]>[0];

interface Options {
  /** The module of the threads, without extension. */
  readonly program?: string;
  /** How long a text is processed. The slowest one that is allowed takes about a second, and a thread starts before the first one. */
  readonly deadlineMs?: number;
  /** How long a text waits. */
  readonly maxWaitMs?: number;
}

const extension = extname(import.meta.url);

const overloaded = (cause?: unknown): HttpError =>
  new HttpError(503, 'overloaded', 'Too many texts are being processed.', {
    headers: { 'Retry-After': `${RETRY_SECONDS}` },
    cause,
  });

/** The tenant itself has too many. */
const tooMany = (cause?: unknown): HttpError =>
  new HttpError(429, 'rate_limited', 'Your organisation has too many texts in work.', {
    headers: { 'Retry-After': `${RETRY_SECONDS}` },
    details: { max_characters: MAX_CHARACTERS / 2 },
    cause,
  });

/**
 * Processes long texts in threads, which start when there is work and end when they have been idle for a minute.
 *
 * The threads, the places and the characters that wait are shared by tenants as `Shares` are: one tenant has one thread at most,
 * and half of the characters; those that wait take turns.
 */
export class TextThreads {
  readonly #threads: Piscina;
  readonly #deadlineMs: number;
  /** Only the characters limit what waits: hundreds of texts of some lines come before a thread has started. */
  readonly #queue: FairQueue;
  readonly #characters = new Shares(MAX_CHARACTERS);

  constructor({ program = './text-thread', deadlineMs = 8000, maxWaitMs = 10_000 }: Options = {}) {
    const { href } = new URL(`${program}${extension}`, import.meta.url);
    this.#deadlineMs = deadlineMs;
    this.#queue = new FairQueue({ concurrency: THREADS, waiting: MAX_CHARACTERS, maxWaitMs });
    this.#threads = new Piscina({
      filename: href,
      // What a thread looks for when it starts: the module has no default export.
      name: 'render',
      minThreads: 0,
      maxThreads: THREADS,
      idleTimeout: IDLE_MS,
      resourceLimits: { maxOldGenerationSizeMb: MEBIBYTES },
      execArgv: sourceFlags(href),
      // The environment of the service contains secrets.
      env: {},
    });
  }

  /**
   * Does the work `name` on an input of so many characters. 429 if the tenant has too many texts that wait; 503 if all tenants
   * together have, or if the work does not end in time.
   */
  async run<K extends keyof TextWork>(
    tenant: string,
    name: K,
    input: Input<K>,
    characters: number,
  ): Promise<ReturnType<TextWork[K]>> {
    const isFirst = this.#characters.heldBy(tenant) === 0;
    if (!this.#characters.take(tenant, characters)) throw isFirst ? overloaded() : tooMany();
    try {
      return await this.#queue.run(tenant, () => this.#process(name, input));
    } catch (cause) {
      const isOwn = cause instanceof QueueFull && this.#queue.countOf(tenant) > 0;
      throw isOwn ? tooMany(cause) : overloaded(cause);
    } finally {
      this.#characters.give(tenant, characters);
    }
  }

  #process<K extends keyof TextWork>(name: K, input: Input<K>): Promise<ReturnType<TextWork[K]>> {
    // An aborted task ends its thread.
    return this.#threads.run(input, { name, signal: AbortSignal.timeout(this.#deadlineMs) });
  }
}

let shared: TextThreads | undefined;

/** The threads that this process has for texts. */
export const textThreads = (): TextThreads => {
  shared ??= new TextThreads();
  return shared;
};
