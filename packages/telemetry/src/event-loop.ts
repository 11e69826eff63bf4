import { AsyncLocalStorage } from 'node:async_hooks';
import { performance } from 'node:perf_hooks';
import { isPromise } from 'node:util/types';
import { Histogram, type Registry } from 'prom-client';

/** What the JavaScript that runs belongs to. */
interface Work {
  /** The code that follows belongs to this work. */
  begin(): void;
  /** This work waits for something; what ran until now belongs to it unless something else has begun since. */
  pause(): void;
}

const works = new AsyncLocalStorage<Work>();

/** Shorter stretches are not recorded, so that most requests cost nothing but two readings of the clock. */
const SHORTEST_MS = 10;
/** A stretch of unknown work is known at this precision, in milliseconds. */
const BEAT_MS = 10;
/** Work that no request or job has begun, such as that of timers and connections. */
const OTHER = 'other';

/**
 * Measures which request or job kept the event loop, as `eventloop_blocked_seconds`. JavaScript is cut into stretches where a
 * request or job begins, and where it sends a statement and gets its rows: that is cheap, while observing every callback
 * (`async_hooks`, as `blocked-at` does) costs a multiple of a short request. What runs after another kind of wait belongs to
 * the work whose next cut follows. A timer cuts as well while there is work. Time without anything to do does not count.
 */
export class EventLoopWatch {
  readonly #blocked: Histogram<'operation'>;
  readonly #beat: NodeJS.Timeout;
  #isBeating = false;
  #running = 0;
  #owner: string | undefined;
  #since = 0;
  #idle = 0;

  constructor(registry: Registry) {
    this.#blocked = new Histogram({
      name: 'eventloop_blocked_seconds',
      help: `How long one operation or job ran without letting others run, if ${SHORTEST_MS} ms or longer.`,
      labelNames: ['operation'],
      buckets: [0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5],
      registers: [registry],
    });
    // The labels exist from the beginning.
    this.#blocked.zero({ operation: OTHER });
    this.#beat = setTimeout(() => this.#onBeat(), BEAT_MS).unref();
  }

  /** Begins work; `run` runs code as a part of it, and `end` is called once when it has ended. */
  begin(operation: string): OperationOnLoop {
    this.#running += 1;
    if (!this.#isBeating) {
      this.#isBeating = true;
      this.#restart();
      this.#beat.refresh();
    }
    const work: Work = {
      begin: () => this.#cut(this.#owner ?? OTHER, operation),
      pause: () => this.#cut(this.#owner ?? operation, undefined),
    };
    return {
      run(code) {
        work.begin();
        return works.run(work, code);
      },
      claim: () => {
        this.#owner ??= operation;
      },
      end: () => {
        this.#running -= 1;
      },
    };
  }

  #restart(): void {
    this.#owner = undefined;
    this.#since = performance.now();
    this.#idle = performance.nodeTiming.idleTime;
  }

  #cut(owner: string, next: string | undefined): void {
    const now = performance.now();
    const idle = performance.nodeTiming.idleTime;
    const blocked = now - this.#since - (idle - this.#idle);
    if (blocked >= SHORTEST_MS) this.#blocked.observe({ operation: owner }, blocked / 1000);
    this.#owner = next;
    this.#since = now;
    this.#idle = idle;
  }

  #onBeat(): void {
    if (this.#isBeating) this.#cut(this.#owner ?? OTHER, undefined);
    this.#isBeating = this.#running > 0;
    if (this.#isBeating) this.#beat.refresh();
  }
}

/** A request or job on the event loop. */
export interface OperationOnLoop {
  /** Runs code that belongs to it, with everything that the code waits for. */
  run<T>(code: () => T): T;
  /** Says that what ran since the last cut belongs to it, unless something else has begun since. */
  claim(): void;
  end(): void;
}

const watches = new WeakMap<Registry, EventLoopWatch>();

/** The measurement whose metric is in this registry. */
export const eventLoopOf = (registry: Registry): EventLoopWatch => {
  const watch = watches.get(registry) ?? new EventLoopWatch(registry);
  watches.set(registry, watch);
  return watch;
};

/** Sends a statement or another request; what runs before and after it are stretches of the present work. */
export const whileWaiting = <T>(send: () => T): T => {
  const work = works.getStore();
  if (!work) return send();
  const sent = send();
  work.pause();
  if (!isPromise(sent)) return sent;
  const continued = (): void => work.begin();
  sent.then(continued, continued);
  return sent;
};
