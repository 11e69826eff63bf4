import { type Read, registerReadGauge } from '@tessera/telemetry/metrics';
import { Histogram, type Registry } from 'prom-client';

/** Jobs of one kind, by state. */
export interface JobCounts {
  readonly job: string;
  /** Waiting to run, including jobs that wait for their next attempt. */
  readonly waiting: number;
  readonly running: number;
  /** Failed after all attempts, and kept for an administrator. */
  readonly dead: number;
}

/** What is read for the gauges. */
export interface JobReadings {
  readonly counts: Read<readonly JobCounts[]>;
  /** Seconds since the oldest job that waits was due, by kind; 0 if none is due. */
  readonly overdue: Read<ReadonlyMap<string, number>>;
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
  { counts, overdue }: JobReadings,
): JobMetrics => {
  registerReadGauge(
    registry,
    {
      name: 'jobs_overdue_seconds',
      help: 'How long the oldest job has been due without running, by kind; 0 if none is due.',
      labelNames: ['job'],
    },
    overdue,
    (gauge, kinds) => {
      for (const [job, seconds] of kinds) gauge.set({ job }, seconds);
    },
  );
  registerReadGauge(
    registry,
    {
      name: 'jobs',
      help: 'Jobs by kind and state (waiting, running, dead), counted every few seconds.',
      labelNames: ['job', 'state'],
    },
    counts,
    (gauge, kinds) => {
      for (const { job, ...ofStates } of kinds) {
        for (const state of STATES) gauge.set({ job, state }, ofStates[state]);
      }
    },
  );
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
