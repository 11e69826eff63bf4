import { dropCitusDatabases } from './citus-database.ts';
import stop from './jest-teardown.ts';
import { printShardReport } from './shard-report.ts';

/** Jest's globalTeardown on a Citus cluster: also drops the databases of the run, and prints how many shards were accessed. */
export default async function teardown(): Promise<void> {
  const { CITUS_URL, TEST_CITUS_RUN } = process.env;
  await dropCitusDatabases(`${CITUS_URL}`, `${TEST_CITUS_RUN}`);
  printShardReport();
  await stop();
}
