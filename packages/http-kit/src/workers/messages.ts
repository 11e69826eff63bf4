import type { MetricObjectWithValues, MetricValue } from 'prom-client';

/** Adds hits to a counter: the name and the window of its limit, in milliseconds, its key and the hits. */
type Addition = readonly ['add', limit: string, windowMs: number, key: string, hits: number];

/** An operation on a counter. */
export type CounterOperation =
  | Addition
  | readonly ['decrement' | 'resetKey', limit: string, windowMs: number, key: string];

/** The hits after an addition, and when their window ends; null for other operations. */
export type CounterResult = readonly [totalHits: number, resetTime: number] | null;

export type WorkerMetrics = readonly MetricObjectWithValues<MetricValue<string>>[];

/** What a worker sends to the primary process. */
export type FromWorker =
  | { readonly type: 'ready'; readonly url: string }
  | {
      readonly type: 'count';
      readonly id: number;
      readonly operations: readonly CounterOperation[];
    }
  | { readonly type: 'metrics'; readonly id: number; readonly metrics: WorkerMetrics };

/** What the primary process sends to a worker. */
export type ToWorker =
  | { readonly type: 'counted'; readonly id: number; readonly results: readonly CounterResult[] }
  | { readonly type: 'metrics'; readonly id: number };
