import { createPool, createTenantDb } from '@tessera/database-kit';
import { int, shape, text } from '@tessera/fields';
import { createLogger } from '@tessera/http-kit';
import { freshDatabase, until } from '@tessera/local-stack';
import type pg from 'pg';
import { Registry } from 'prom-client';
import { defineJob, type JobHandler, type JobOptions } from '../jobs/job.ts';
import { JobQueue, type JobQueueOptions } from '../jobs/queue.ts';

export const numbered = (name: string, options?: JobOptions) =>
  defineJob(name, shape({ number: int(-1000, 1000), note: text(100) }), options);

/** A database with a queue in it, and replicas that run jobs of that queue. */
export const startTestQueues = async (options: Pick<JobQueueOptions, 'jobs'>) => {
  const { url } = await freshDatabase('empty', async () => {});
  const pool = createPool(url, { applicationName: 'jobs test' });
  const registry = new Registry();
  const lines: string[] = [];
  const logger = createLogger('test', 'debug', { write: (line: string) => void lines.push(line) });
  const queues: JobQueue[] = [];

  /** Starts a replica. Without handlers, it only enqueues jobs. */
  const replica = async (
    handlers: readonly JobHandler[],
    further: Partial<JobQueueOptions> = {},
  ): Promise<JobQueue> => {
    const queue = new JobQueue({
      pool,
      directUrl: url,
      schema: 'test_jobs',
      logger,
      ...options,
      ...further,
    });
    queues.push(queue);
    await queue.start(handlers);
    return queue;
  };

  return {
    url,
    pool,
    registry,
    lines,
    replica,
    until,
    /** Access to the rows of a tenant, as services have it. */
    tenant: createTenantDb(pool, '019aa0f5-0000-7000-8000-000000000001'),
    /** Runs work in a transaction, which `end` commits or rolls back. */
    async transaction(work: (tx: pg.PoolClient) => Promise<unknown>, end = 'COMMIT') {
      const client = await pool.connect();
      try {
        await client.query('BEGIN');
        await work(client);
        await client.query(end);
      } finally {
        client.release();
      }
    },
    async stop() {
      await Promise.all(queues.map((queue) => queue.stop()));
      await pool.end();
    },
  };
};

export type TestQueues = Awaited<ReturnType<typeof startTestQueues>>;
