import { createLogger } from '@tessera/http-kit';
import pg from 'pg';
import { startExclusiveWorker } from '../exclusive-worker.ts';
import { onOneReplica } from '../one-replica.ts';

/** A replica that prints a line for each step of its exclusive work, and `lost` when it is told that it has lost its lock. */
const { DATABASE_URL: url = '', WORK: work = '' } = process.env;

const steps: Record<string, () => Promise<unknown>> = {
  async worker() {
    startExclusiveWorker({
      directUrl: url,
      applicationName: 'exclusive replica',
      lock: [4712],
      channel: 'exclusive_work',
      logger: createLogger('exclusive replica', 'silent'),
      failure: 'failed',
      pollMs: 20,
      async work(client) {
        await client.query('SELECT 1');
        console.log('step');
        return false;
      },
    });
  },
  'one replica'() {
    const pool = new pg.Pool({ connectionString: url, application_name: 'exclusive replica' });
    return onOneReplica(pool, [4712, 1], async (lost) => {
      console.log('step');
      await new Promise((resolve) => lost.addEventListener('abort', resolve));
      console.log('lost');
    }).catch(() => undefined);
  },
};

await steps[work]?.();
