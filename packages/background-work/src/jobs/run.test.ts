import { shape } from '@tessera/fields';
import { createLogger } from '@tessera/http-kit';
import { startTelemetry } from '@tessera/telemetry';
import type { JobWithMetadata } from 'pg-boss';
import { defineJob, handleJob } from './job.ts';
import { runJob } from './run.ts';

test('The log line of a failed job has the trace of the request that enqueued it', async () => {
  // Nothing listens there: what is recorded is lost, and nothing else.
  const stop = await startTelemetry('test', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' });
  const lines: string[] = [];
  const logger = createLogger('test', 'info', { write: (line) => void lines.push(line) });
  const failing = handleJob(defineJob('failing', shape({})), async () => {
    throw new Error('the server is unreachable');
  });
  const trace = 'a'.repeat(32);
  const stored = {
    id: 'job-1',
    retryCount: 0,
    retryLimit: 3,
    expireInSeconds: 60,
    data: { traceparent: `00-${trace}-${'b'.repeat(16)}-01` },
    signal: new AbortController().signal,
  } as JobWithMetadata;
  const stopping = new AbortController().signal;
  const pool = { query: () => Promise.reject() };
  const options = {
    logger,
    metrics: undefined,
    eventLoop: undefined,
    stopping,
    pool,
    schema: 'test_jobs',
  };
  const result = await runJob(failing, stored, options);
  expect(result).toMatchObject({ status: 'failed' });
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({ job: 'failing', id: 'job-1', trace_id: trace }),
  ]);
  await stop();
});
