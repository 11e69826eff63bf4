/** One request, sent over and over. */
export interface Target {
  readonly url: string;
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  /** What differs between requests; each connection sends them in turn. */
  readonly variants?: readonly {
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
  }[];
}

/** How it is sent: for some seconds, or until so many are answered. */
export interface Plan extends Target {
  readonly connections: number;
  readonly seconds?: number;
  readonly amount?: number;
  /** Requests a second of all connections together; unless given, as many as are answered. */
  readonly rate?: number;
}

/** What came of it. */
export interface Load {
  /** Answers a second. */
  readonly rate: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly statuses: Readonly<Record<string, number>>;
  /** What each answer cost the process that gave it, in milliseconds of a core; where it is measured. */
  readonly cpu?: number;
  /** Connections that broke, and answers that did not come in time. */
  readonly errors: number;
}

/** The value below which a share of the numbers lies; NaN of none. */
export const percentile = (numbers: readonly number[], share: number): number => {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
};

export const median = (numbers: readonly number[]): number => percentile(numbers, 0.5);
