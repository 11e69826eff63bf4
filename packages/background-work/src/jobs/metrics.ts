import { Gauge, Histogram, type Registry } from 'prom-client';

/** Jobs of one kind, by state. */
export interface JobCounts {
  readonly job: string;
  /** Waiting to run, including jobs that wait for their next attempt. */
  readonly waiting: number;
  readonly running: number;
  /** Failed after all attempts, and kept for an administrator. */
  readonly dead: number;
}

/** What is read for the gauges; undefined if it cannot be read now. */
export interface JobReadings {
  counts(): Promise<readonly JobCounts[] | undefined>;
  /** Seconds since the oldest job that waits was due, by kind; 0 if none is due. */
  overdue(): Promise<ReadonlyMap<string, number> | undefined>;
}

export type Outcome = 'done' | 'failed' | 'dead';

export interface JobMetrics {
  /** Starts measuring one attempt; call the result when it ends. */
  started(job: string): (outcome: Outcome) => void;
}

const STATES = ['waiting', 'running', 'dead'] as const;

/** Registers metrics: the number of jobs by kind and state, how late they are, and the duration of attempts by outcome. */
export const createJobMetrics = (
  registry: Registry,
  { counts: readCounts, overdue }: JobReadings,
): JobMetrics => {
  new Gauge({
    name: 'jobs_overdue_seconds',
    help: 'How long the oldest job has been due without running, by kind; 0 if none is due.',
    labelNames: ['job'],
    registers: [registry],
    async collect() {
      const seconds = await overdue();
      this.reset();
      for (const [job, one] of seconds ?? []) this.set({ job }, one);
    },
  });
  new Gauge({
    name: 'jobs',
    help: 'Jobs by kind and state (waiting, running, dead), counted every few seconds.',
    labelNames: ['job', 'state'],
    registers: [registry],
    async collect() {
      const kinds = await readCounts();
      this.reset();
      for (const { job, ...counts } of kinds ?? []) {
        for (const state of STATES) this.set({ job, state }, counts[state]);
      }
    },
  });
  const duration = new Histogram({
    name: 'job_duration_seconds',
    help: 'Duration of attempts by kind of job and outcome (done, failed, dead).',
    labelNames: ['job', 'outcome'],
    buckets: [0.01, 0.05, 0.25, 1, 5, 30, 120, 600],
    registers: [registry],
  });
  return {
    started(job) {
      const end = duration.startTimer({ job });
      return (outcome) => void end({ outcome });
    },
  };
};
