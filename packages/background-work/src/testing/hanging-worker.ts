import { createLogger } from '@tessera/http-kit';
import pg from 'pg';
import { handleJob } from '../jobs/job.ts';
import { JobQueue } from '../jobs/queue.ts';
import { numbered } from './queue.ts';

/** A replica that claims a job, reports that on standard output, and never completes it. */
const { DATABASE_URL: url = '', JOB: name = '' } = process.env;
const job = numbered(name, { backoffSeconds: 1 });
const queue = new JobQueue({
  pool: new pg.Pool({ connectionString: url }),
  directUrl: url,
  schema: 'test_jobs',
  jobs: [job],
  logger: createLogger('hanging worker', 'silent'),
  takeOverSeconds: 10,
});
await queue.start([
  handleJob(job, async () => {
    console.log('claimed');
    await new Promise(() => undefined);
  }),
]);
