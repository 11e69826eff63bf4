/** A request that is sent repeatedly. */
export interface Target {
  readonly url: string;
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  /** Variants of the request; each connection sends them in turn. */
  readonly variants?: readonly {
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
  }[];
}

/** How to send it: for some seconds, or a number of times. */
export interface Plan extends Target {
  readonly connections: number;
  readonly seconds?: number;
  readonly amount?: number;
  /** Requests per second of all connections; unlimited if absent. */
  readonly rate?: number;
}

/** The result of a load. */
export interface Load {
  /** Responses per second. */
  readonly rate: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly statuses: Readonly<Record<string, number>>;
  /** CPU time per response in the measured process, in milliseconds; if measured. */
  readonly cpu?: number;
  /** CPU time per response in PostgreSQL, in milliseconds; if measured. */
  readonly databaseCpu?: number;
  /** Broken connections and timeouts. */
  readonly errors: number;
}

/** The percentile of a list of numbers; NaN for an empty list. */
export const percentile = (numbers: readonly number[], share: number): number => {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
};

export const median = (numbers: readonly number[]): number => percentile(numbers, 0.5);
