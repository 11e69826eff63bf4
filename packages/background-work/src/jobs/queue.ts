import { type Out, type Shape, shape, validate } from '@tessera/fields';
import type { Logger } from '@tessera/http-kit';
import { currentTraceparent, eventLoopOf } from '@tessera/telemetry';
import { readSometimes } from '@tessera/telemetry/metrics';
import type { Pool } from 'pg';
import { type JobWithMetadata, PgBoss, type QueueOptions, type WorkOptions } from 'pg-boss';
import type { Registry } from 'prom-client';
import { inTransaction, type JobTransaction, onPool } from './database.ts';
import { DeadJobs, deadQueue } from './dead-jobs.ts';
import { grantEnqueuing } from './grants.ts';
import type { Job, JobHandler } from './job.ts';
import { createJobMetrics, type JobCounts, type JobMetrics } from './metrics.ts';
import { runJob } from './run.ts';
import { CONTINUATION, indexTurns, LAST_TURN, nextTurn, tenantOf } from './turns.ts';

export interface JobQueueOptions {
  readonly pool: Pool;
  /** The address of the database itself, for LISTEN; differs from the pool's behind PgBouncer. */
  readonly directUrl: string;
  /** The schema that belongs to the queue alone, such as `crm_jobs`. The queue creates and migrates it. */
  readonly schema: string;
  /** All kinds of jobs that are enqueued or run here, except for those that `register` adds. */
  readonly jobs?: readonly Job[];
  /** Whether this process administers every kind of job that has a queue in the schema. Default false. */
  readonly administersAll?: boolean;
  readonly logger: Logger;
  /** A role besides the pool's user whose transactions enqueue jobs; the queue grants it the privileges. */
  readonly enqueuingRole?: string | undefined;
  /** Whether this process only enqueues jobs, and other processes run them. Default false. */
  readonly enqueueOnly?: boolean | undefined;
  /** Where the metrics go. */
  readonly registry?: Registry;
  /** How long `stop` waits for running jobs, in milliseconds; at least 1,000. Default 5,000. */
  readonly stopLimitMs?: number;
  /** How soon the job of a killed process is taken over, in seconds; at least 10. Default 30. */
  readonly takeOverSeconds?: number;
}

export interface EnqueueOptions {
  /** Jobs of an `ordered` kind with the same key run one after the other; required for such kinds. */
  readonly key?: string;
  /** The job does not run before this time. */
  readonly runAt?: Date;
  /** Whether the job is the rest of one that has yielded: it runs after all jobs that are none. Default false. */
  readonly isContinuation?: boolean;
}

const CONCURRENCY = 2;
const MAX_WAITING = 100_000;
const MAINTENANCE_SECONDS = 10;
const POLL_SECONDS = 2;
/** NOTIFY does not announce retries that become due, so they are polled for. */
const POLL_WITH_LISTEN_SECONDS = 5;
const KEEP_DEAD_SECONDS = 90 * 24 * 3600;
const KEEP_DONE_SECONDS = 60;
const NO_PRIORITY = 2 ** 31 - 1;
const NO_WORK = (): Promise<void> => Promise.resolve();
const NO_JOB = '00000000-0000-0000-0000-000000000000';

/**
 * A queue of jobs in PostgreSQL (pg-boss). A job is enqueued within the transaction of the change that needs
 * it, and runs on one of the replicas if and only if that transaction commits. A failed job is retried with backoff;
 * the job of a killed process is taken over by another one. After its last attempt, a job is kept as a dead job.
 *
 * Tenants share the workers of a kind: one has at most half of them (the groups of pg-boss), and the waiting jobs of all
 * tenants take turns (`nextTurn`), which their priority says. Retries keep their turn.
 */
export class JobQueue {
  readonly #options: JobQueueOptions;
  readonly #boss: PgBoss;
  readonly #metrics: JobMetrics | undefined;
  readonly #stopping = new AbortController();
  readonly #jobs: Map<string, Job>;
  readonly #handlers: JobHandler[] = [];
  readonly dead: DeadJobs;

  constructor(options: JobQueueOptions) {
    const { pool, schema, jobs = [], logger, registry } = options;
    this.#options = options;
    this.#jobs = new Map(jobs.map((job) => [job.name, job]));
    this.#boss = new PgBoss({
      db: onPool(pool, options),
      schema,
      useListenNotify: true,
      schedule: false,
      superviseIntervalSeconds: MAINTENANCE_SECONDS,
      monitorIntervalSeconds: MAINTENANCE_SECONDS,
      maintenanceIntervalSeconds: 3 * MAINTENANCE_SECONDS,
      queueCacheIntervalSeconds: MAINTENANCE_SECONDS,
    });
    this.#boss.on('error', (err) => logger.warn({ err }, 'the job queue failed and will retry'));
    this.#boss.on('warning', ({ message }) => logger.warn(`the job queue warns: ${message}`));
    this.dead = new DeadJobs(this.#boss, this.#jobs);
    const uncounted = (err: unknown) => logger.warn({ err }, 'the jobs could not be counted');
    this.#metrics =
      registry &&
      createJobMetrics(registry, {
        counts: readSometimes(() => this.counts(), uncounted),
        overdue: readSometimes(() => this.#overdue(), uncounted),
      });
  }

  /** Adds a kind of job. Each feature registers its own kinds before `start`. */
  register(handler: JobHandler): void {
    this.#jobs.set(handler.job.name, handler.job);
    this.#handlers.push(handler);
  }

  /**
   * Brings the queue's schema up to date and begins to run jobs. Without handlers the process only enqueues
   * jobs and administers dead ones.
   */
  async start(handlers: readonly JobHandler[] = []): Promise<void> {
    const { pool, schema, enqueuingRole } = this.#options;
    await this.#boss.start();
    for (const job of this.#jobs.values()) await this.#createQueue(job);
    if (this.#options.administersAll) await this.#addStoredJobs();
    await indexTurns(pool, schema);
    if (enqueuingRole) await grantEnqueuing(pool, schema, enqueuingRole);
    if (this.#options.enqueueOnly) return;
    for (const handler of [...this.#handlers, ...handlers]) {
      const { concurrency = CONCURRENCY, hasSlices } = handler.job.options;
      for (let worker = 0; worker < concurrency; worker += 1) await this.#startWorker(handler);
      if (hasSlices) await this.#startWorker(handler, { minPriority: LAST_TURN });
      await this.#setShare(handler.job.name, Math.ceil(concurrency / 2));
    }
  }

  /**
   * Starts no further job and waits for the running ones. Jobs that are not done within `stopLimitMs` are
   * aborted and count as failed, so they are retried by this or another process.
   */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#boss.stop({ timeout: this.#options.stopLimitMs ?? 5000 });
  }

  /**
   * Enqueues a job that runs once the transaction has committed, and returns its id. Throws a TypeError that
   * names the fields when the payload does not fit its shape, and 429 when too many jobs of the tenant wait.
   */
  async enqueue<S extends Shape>(
    tx: JobTransaction,
    job: Job<S>,
    payload: Out<S>,
    { key, runAt, isContinuation = false }: EnqueueOptions = {},
  ): Promise<string> {
    if (this.#jobs.get(job.name) !== job) throw new TypeError(`${job.name} is not declared.`);
    const checked = validate(job.payload, payload, 'payload');
    if (!checked.ok) {
      throw new TypeError(`A ${job.name} job: ${Object.values(checked.errors).flat().join(', ')}`);
    }
    const traceparent = currentTraceparent();
    const data = { ...(checked.value as object), ...(traceparent && { traceparent }) };
    const db = inTransaction(tx);
    const tenant = tenantOf(payload);
    const { maxWaiting = MAX_WAITING } = job.options;
    const own = tenant && { schema: this.#options.schema, job: job.name, tenant };
    // What goes on is limited by what began.
    const turn = own && !isContinuation ? await nextTurn(db, own, maxWaiting) : 0;
    const id = await this.#boss.send(job.name, data, {
      db,
      priority: isContinuation ? CONTINUATION : turn,
      ...(tenant && { group: { id: tenant } }),
      ...(key !== undefined && { singletonKey: key }),
      ...(runAt && { startAfter: runAt }),
    });
    if (id === null) throw new Error(`A ${job.name} job was not enqueued.`);
    return id;
  }

  /** How many jobs there are, as of a few seconds ago. */
  async counts(): Promise<JobCounts[]> {
    const names = [...this.#jobs.keys()];
    const queues = await this.#boss.getQueues(names.flatMap((name) => [name, deadQueue(name)]));
    const byName = new Map(queues.map((queue) => [queue.name, queue]));
    return names.map((job) => ({
      job,
      waiting: byName.get(job)?.queuedCount ?? 0,
      running: byName.get(job)?.activeCount ?? 0,
      dead: byName.get(deadQueue(job))?.queuedCount ?? 0,
    }));
  }

  /** Seconds since the oldest job that waits was due, by kind. */
  async #overdue(): Promise<ReadonlyMap<string, number>> {
    const { pool, schema } = this.#options;
    const names = [...this.#jobs.keys()];
    const { rows } = await pool.query<{ name: string; seconds: number }>(
      `SELECT name, coalesce(extract(epoch FROM now() - (
         SELECT min(start_after) FROM ${schema}.job
         WHERE job.name = kind.name AND state < 'active' AND NOT blocked
           AND start_after <= now()
       )), 0)::float8 AS seconds
       FROM unnest($1::text[]) AS kind (name)`,
      [names],
    );
    return new Map(rows.map(({ name, seconds }) => [name, seconds]));
  }

  async #createQueue({ name, options }: Job): Promise<void> {
    const settings: QueueOptions = {
      retryLimit: options.retries ?? 10,
      retryBackoff: true,
      retryDelay: options.backoffSeconds ?? 5,
      retryDelayMax: options.maxBackoffSeconds ?? 3600,
      expireInSeconds: options.timeLimitSeconds ?? 900,
      heartbeatSeconds: this.#options.takeOverSeconds ?? 30,
      deleteAfterSeconds: KEEP_DONE_SECONDS,
      retentionSeconds: KEEP_DEAD_SECONDS,
    };
    await this.#boss.createQueue(deadQueue(name), { retentionSeconds: KEEP_DEAD_SECONDS });
    const deadLetter = deadQueue(name);
    await this.#boss.createQueue(name, {
      ...settings,
      deadLetter,
      notify: true,
      policy: options.ordered ? 'key_strict_fifo' : 'standard',
    });
    // An existing queue may still have the settings of an earlier release.
    await this.#boss.updateQueue(name, { ...settings, deadLetter });
    // Makes pg-boss remember the queue, which `enqueue` would otherwise read on a second connection of the pool while
    // its transaction holds one.
    await this.#boss.findJobs(name, { id: NO_JOB });
  }

  /**
   * Adds the kinds that services have created queues for, in the order of their names. Nothing can be enqueued for them
   * here.
   */
  async #addStoredJobs(): Promise<void> {
    const names = (await this.#boss.getQueues()).map((queue) => queue.name).toSorted();
    const declared = new Map(this.#jobs);
    this.#jobs.clear();
    for (const name of names.filter((known) => names.includes(deadQueue(known)))) {
      this.#jobs.set(name, declared.get(name) ?? { name, payload: shape({}), options: {} });
    }
  }

  /**
   * Sets how many workers of a kind one tenant has at most. pg-boss keeps one such number for the workers of a kind together, but
   * accepts no more than one call starts, and only a worker of its own call can be told to continue at once. These start for
   * nothing else: no job has their priority.
   */
  async #setShare(name: string, share: number): Promise<void> {
    if (share === 1) return;
    const none = { minPriority: NO_PRIORITY, localConcurrency: share };
    const id = await this.#boss.work(name, { ...none, localGroupConcurrency: share }, NO_WORK);
    await this.#boss.offWork(name, { id, wait: true });
  }

  async #startWorker(
    handler: JobHandler,
    jobsRun: Pick<WorkOptions, 'minPriority'> = {},
  ): Promise<void> {
    const { logger, pool, schema, registry } = this.#options;
    const eventLoop = registry && eventLoopOf(registry);
    const id: string = await this.#boss.work(
      handler.job.name,
      {
        ...jobsRun,
        localGroupConcurrency: 1,
        includeMetadata: true,
        perJobResults: true,
        pollingIntervalSeconds: POLL_SECONDS,
        notifyPollingIntervalSeconds: POLL_WITH_LISTEN_SECONDS,
      },
      async ([stored]: JobWithMetadata<object>[]) => {
        if (!stored) return [];
        // Without this, the worker would wait for its next poll even if jobs are waiting.
        this.#boss.notifyWorker(id);
        const stopping = this.#stopping.signal;
        const options = { logger, metrics: this.#metrics, eventLoop, stopping, pool, schema };
        return [await runJob(handler, stored, options)];
      },
    );
  }
}
