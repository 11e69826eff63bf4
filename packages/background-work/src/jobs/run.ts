import { type Out, validate } from '@tessera/fields';
import type { Logger } from '@tessera/http-kit';
import { type EventLoopWatch, spanAfter } from '@tessera/telemetry';
import type { Pool } from 'pg';
import type { JobResult, JobWithMetadata } from 'pg-boss';
import type { JobHandler, JobRun } from './job.ts';
import type { JobMetrics } from './metrics.ts';
import { letOthersPass, othersWait, tenantOf } from './turns.ts';

/** How long before its time limit a job is put behind others. */
const BEFORE_LIMIT_MS = 500;

export interface RunOptions {
  readonly logger: Logger;
  readonly metrics: JobMetrics | undefined;
  readonly eventLoop: EventLoopWatch | undefined;
  readonly stopping: AbortSignal;
  readonly pool: Pick<Pool, 'query'>;
  readonly schema: string;
}

/** The parts of an error that are stored. Drivers attach rows and settings to their errors, which may be secret. */
const outputOf = (error: unknown): object => ({
  message: error instanceof Error ? error.message : String(error),
  code: (error as { code?: unknown } | null)?.code,
});

/** Runs one attempt of a job, and reports how it ended. Never rejects, and never logs the payload. */
export const runJob = async (
  { job, handle }: JobHandler,
  stored: JobWithMetadata,
  { logger, metrics, eventLoop, stopping, pool, schema }: RunOptions,
): Promise<JobResult> => {
  const { id, retryCount, retryLimit } = stored;
  const attempt = retryCount + 1;
  const context = { job: job.name, id, attempt };
  const finished = metrics?.started(job.name);
  const onLoop = eventLoop?.begin(`job ${job.name}`);
  const isDead = retryCount >= retryLimit;
  const { traceparent, ...data } = Object(stored.data) as { readonly traceparent?: string };
  const putBehind = (): void =>
    void letOthersPass(pool, schema, stored).catch((err: unknown) =>
      logger.warn({ err, ...context }, 'a job that reaches its time limit keeps its turn'),
    );
  // At the limit itself, pg-boss lets the attempt fail, and copies the turn to the next one.
  const timer = setTimeout(putBehind, stored.expireInSeconds * 1000 - BEFORE_LIMIT_MS);
  const attributes = {
    'messaging.system': 'pg-boss',
    'messaging.operation.type': 'process',
    'messaging.destination.name': job.name,
    'messaging.message.id': id,
  };
  const perform = async (): Promise<void> => {
    try {
      const payload = validate(job.payload, data, 'payload');
      if (!payload.ok) throw new Error(`The payload is invalid: ${Object.keys(payload.errors)}.`);
      const tenant = tenantOf(data) ?? '';
      const run: JobRun = {
        id,
        attempt,
        signal: stored.signal,
        stopping,
        othersWait: () => othersWait(pool, { schema, job: job.name, tenant }),
      };
      const work = handle as (payload: Out<typeof job.payload>, run: JobRun) => Promise<void>;
      await work(payload.value, run);
    } catch (err) {
      // Within the span, so that the line has its ids.
      if (isDead) logger.error({ err, ...context }, 'a job failed and will not be retried');
      else logger.warn({ err, ...context }, 'a job failed and will be retried');
      throw err;
    }
  };
  try {
    const traced = () =>
      spanAfter(traceparent, `process ${job.name}`, { kind: 'consumer', attributes }, perform);
    await (onLoop ? onLoop.run(traced) : traced());
    finished?.('done');
    return { id, status: 'completed' };
  } catch (err) {
    finished?.(isDead ? 'dead' : 'failed');
    return { id, status: 'failed', output: outputOf(err) };
  } finally {
    clearTimeout(timer);
    onLoop?.claim();
    onLoop?.end();
  }
};
