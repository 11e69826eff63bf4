import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import type { FromWorker, ToWorker, WorkerMetrics } from './messages.ts';
import type { PrimaryCounters } from './primary-counters.ts';
import { NUMBER_VARIABLE } from './this-worker.ts';

/** A worker that does not answer in this time is left out of the metrics. */
const METRICS_LIMIT_MS = 2000;

export interface WorkerEnd {
  readonly code: number | null;
  readonly signal: string | null;
}

/** A worker, as the primary process sees it. */
export interface WorkerProcess {
  /** The URL at which it listens; undefined if it ends before it is ready. */
  readonly ready: Promise<string | undefined>;
  readonly ended: Promise<WorkerEnd>;
  /** The metrics of a worker that is ready; empty if it does not answer. */
  metrics(): Promise<WorkerMetrics>;
  /** Asks it to stop. */
  stop(): void;
}

const answersOf = (worker: Worker, counters: PrimaryCounters) => {
  const asked = new Map<number, (metrics: WorkerMetrics) => void>();
  let setReady: (url: string) => void;
  const ready = new Promise<string>((resolve) => {
    setReady = resolve;
  });
  const tell = (message: ToWorker): void => {
    // It may have ended since it asked.
    if (worker.isConnected()) worker.send(message, () => undefined);
  };
  worker.on('message', (message: FromWorker) => {
    if (message.type === 'ready') setReady(message.url);
    if (message.type === 'metrics') asked.get(message.id)?.(message.metrics);
    if (message.type === 'count') {
      const { id, operations } = message;
      void counters.count(operations).then((results) => tell({ type: 'counted', id, results }));
    }
  });
  return { asked, ready, tell };
};

/** Starts a worker: another process with the same program and arguments. */
export const startWorker = (number: number, counters: PrimaryCounters): WorkerProcess => {
  const worker = cluster.fork({ [NUMBER_VARIABLE]: `${number}` });
  const { asked, ready, tell } = answersOf(worker, counters);
  const ended = once(worker, 'exit').then(([code, signal]): WorkerEnd => ({ code, signal }));
  let isReady = false;
  void ready.then(() => {
    isReady = true;
  });
  let lastId = 0;
  return {
    ready: Promise.race([ready, ended.then(() => undefined)]),
    ended,
    metrics() {
      if (!isReady) return Promise.resolve([]);
      lastId += 1;
      const id = lastId;
      return new Promise((resolve) => {
        const answer = (metrics: WorkerMetrics): void => {
          clearTimeout(limit);
          asked.delete(id);
          resolve(metrics);
        };
        const limit = setTimeout(answer, METRICS_LIMIT_MS, []);
        void ended.then(() => answer([]));
        asked.set(id, answer);
        tell({ type: 'metrics', id });
      });
    },
    stop: () => void worker.process.kill('SIGTERM'),
  };
};
