// `npm run test:citus`: runs the tests of CRM's records on the Citus cluster whose coordinator CITUS_URL names: a
// database with the extension citus and at least one worker, as a superuser. Creates and drops databases named
// crm_citus_*. Further arguments are passed to Jest.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootstrap, jest } from './bootstrap.mjs';

if (!process.env.CITUS_URL) {
  console.error(
    'CITUS_URL is missing: the URL of a database with Citus on the coordinator, for example',
    'postgresql://postgres@127.0.0.1:5432/postgres. docs/operations.md says where to get Citus.',
  );
  process.exit(2);
}
bootstrap();
process.env.TEST_CITUS_RUN = `${process.pid}`;
process.env.TEST_CITUS_REPORT = join(tmpdir(), `crm-citus-${process.pid}.jsonl`);
jest('--config=infra/citus/jest.config.mjs');
