import type { Out, Shape } from '@tessera/fields';

export interface JobOptions {
  /** How often a failed job is retried before it is dead. Default 10. */
  readonly retries?: number;
  /** The wait before the first retry, in seconds; it doubles with each further one. Default 5. */
  readonly backoffSeconds?: number;
  /** The longest wait between two attempts, in seconds. Default 3,600. */
  readonly maxBackoffSeconds?: number;
  /** How long one attempt may take, in seconds. Default 900. */
  readonly timeLimitSeconds?: number;
  /**
   * How many of these jobs one replica runs at once, one tenant at most half of them. Default 2. A job belongs to the tenant
   * that the field `tenant_id` of its payload names.
   */
  readonly concurrency?: number;
  /**
   * How many of these jobs one tenant may have waiting, those for a later time included. Default 100,000. Infinity if there is
   * at most one for each row, and enqueuing must not fail, as for deletions.
   */
  readonly maxWaiting?: number;
  /**
   * Whether jobs work in slices: a job enqueues its rest with `isContinuation`. One further worker runs only jobs that
   * are no continuation, so that a short one never waits for long ones.
   */
  readonly hasSlices?: boolean;
  /**
   * Whether jobs with the same key run one at a time, in the order in which their transactions began; a job
   * that waits for its next attempt blocks those after it. Cannot be changed once the queue exists.
   */
  readonly ordered?: boolean;
}

/** A kind of job: its name, the shape of its payload, and how it is retried. */
export interface Job<S extends Shape = Shape> {
  readonly name: string;
  readonly payload: S;
  readonly options: JobOptions;
}

/** The state of one attempt. */
export interface JobRun {
  readonly id: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** Aborted when the attempt must end: its time is up, another replica took it over, or the stop limit is reached. */
  readonly signal: AbortSignal;
  /** Aborted as soon as the process begins to stop: a long job saves its progress and enqueues its rest. */
  readonly stopping: AbortSignal;
  /** Whether a job of the same kind and of another tenant is due while none of that tenant runs. */
  othersWait(): Promise<boolean>;
}

/** A kind of job with the code that runs it. */
export interface JobHandler {
  readonly job: Job;
  handle(payload: never, run: JobRun): Promise<void>;
}

/**
 * Declares a kind of job. Payloads are stored as JSON and are neither encrypted nor logged: pass ids, never
 * secrets. A job may run more than once (after a kill), so its handler must be idempotent.
 */
export const defineJob = <S extends Shape>(
  name: string,
  payload: S,
  options: JobOptions = {},
): Job<S> => ({ name, payload, options });

/** Defines how jobs of a kind are run: the handler resolves when the job is done, and rejects to have it retried. */
export const handleJob = <S extends Shape>(
  job: Job<S>,
  handle: (payload: Out<S>, run: JobRun) => Promise<void>,
): JobHandler => ({ job, handle });
