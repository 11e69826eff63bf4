import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import type { FromWorker, ToWorker, WorkerMetrics } from './messages.ts';
import { MetricsRequests } from './metrics-requests.ts';
import type { PrimaryCounters } from './primary-counters.ts';
import { NUMBER_VARIABLE } from './this-worker.ts';

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
  let setReady: (url: string) => void;
  const ready = new Promise<string>((resolve) => {
    setReady = resolve;
  });
  const tell = (message: ToWorker): void => {
    // It may have ended since it asked.
    if (worker.isConnected()) worker.send(message, () => undefined);
  };
  const requests = new MetricsRequests((id) => tell({ type: 'metrics', id }));
  worker.once('exit', () => requests.end());
  worker.on('message', (message: FromWorker) => {
    if (message.type === 'ready') setReady(message.url);
    if (message.type === 'metrics') requests.answer(message.id, message.metrics);
    if (message.type === 'count') {
      const { id, operations } = message;
      void counters.count(operations).then((results) => tell({ type: 'counted', id, results }));
    }
  });
  return { requests, ready };
};

/** Starts a worker: another process with the same program and arguments. */
export const startWorker = (number: number, counters: PrimaryCounters): WorkerProcess => {
  const worker = cluster.fork({ [NUMBER_VARIABLE]: `${number}` });
  const { requests, ready } = answersOf(worker, counters);
  const ended = once(worker, 'exit').then(([code, signal]): WorkerEnd => ({ code, signal }));
  let isReady = false;
  void ready.then(() => {
    isReady = true;
  });
  return {
    ready: Promise.race([ready, ended.then(() => undefined)]),
    ended,
    metrics: () => (isReady ? requests.ask() : Promise.resolve([])),
    stop: () => void worker.process.kill('SIGTERM'),
  };
};
