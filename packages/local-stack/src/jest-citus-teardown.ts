import { dropCitusDatabases } from './citus-database.ts';
import stop from './jest-teardown.ts';

/** Jest's globalTeardown on a Citus cluster: also drops the databases of the run. */
export default async function teardown(): Promise<void> {
  const { CITUS_URL, TEST_CITUS_RUN } = process.env;
  await dropCitusDatabases(`${CITUS_URL}`, `${TEST_CITUS_RUN}`);
  await stop();
}
