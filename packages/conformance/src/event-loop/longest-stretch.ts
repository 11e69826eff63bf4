import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';

const record = (id: number) => ({
  id,
  name: `record ${id}`,
  tags: ['a', 'b', `${id}`],
  nested: { value: id / 3, flag: id % 2 === 0 },
});
const text = JSON.stringify(Array.from({ length: 4000 }, (_, id) => record(id)));

/** A piece of work of about 4.5 ms on a core of 2026: it parses 400 KB of JSON, visits each record, and writes it again. */
const unit = (): number => {
  const records = JSON.parse(text) as ReturnType<typeof record>[];
  let size = 0;
  for (const one of records) size += Object.keys(one).length + one.name.length;
  return size + JSON.stringify(records).length;
};

/** Milliseconds that the piece of work takes at present, at best. */
const unitNow = (): number => {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 5; run += 1) {
    const started = performance.now();
    unit();
    best = Math.min(best, performance.now() - started);
  }
  return best;
};

/** How long no request may keep the event loop, in pieces of work: 20 ms where one takes 4.5 ms. */
export const LIMIT = 4.5;

/** Other processes and the garbage collector may interrupt a run. */
const ATTEMPTS = 10;
/** Until the timer that measures has noticed the last stretch, in milliseconds. */
const NOTICED_MS = 5;

/** The longest stretch in which `work` kept the event loop of this process, in milliseconds. */
const stretchOf = async (work: () => Promise<void>): Promise<number> => {
  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  await delay(NOTICED_MS);
  delays.reset();
  await work();
  await delay(NOTICED_MS);
  delays.disable();
  return delays.max / 1e6;
};

/** A function that measures in pieces of work, of which it keeps how long one takes at best. */
export const createMeasurement = () => {
  let best = Number.POSITIVE_INFINITY;
  /**
   * The longest stretch in which `work` kept the event loop of this process, in pieces of work that are measured in the same
   * process: what every other request would have waited. Repeats what is above the limit, because other processes may have
   * slowed it down: the shortest of up to ten attempts counts, each beside how fast the machine is then.
   */
  return async (work: () => Promise<void>): Promise<number> => {
    if (best === Number.POSITIVE_INFINITY) best = unitNow();
    let shortest = Number.POSITIVE_INFINITY;
    for (let attempt = 0; attempt < ATTEMPTS && shortest > LIMIT; attempt += 1) {
      const stretch = await stretchOf(work);
      if (stretch / best <= LIMIT) return stretch / best;
      const now = unitNow();
      best = Math.min(best, now);
      shortest = Math.min(shortest, stretch / now);
    }
    return shortest;
  };
};
