// `npm run test:partitions`: runs the tests of CRM's records on tables partitioned by tenant and checks the
// plan of each statement: it may access only one partition, as it may access only one server of a Citus
// cluster. With TEST_POSTGRES_RELEASE=15 they run on PostgreSQL 15, as in CI. Further arguments are passed to Jest.
import { bootstrap, jest } from './bootstrap.mjs';
import { usePostgres15 } from './postgres15.mjs';

if (process.env.TEST_POSTGRES_RELEASE === '15') usePostgres15();
bootstrap();
process.env.TEST_CRM_TABLES = 'partitioned';
jest('--config=infra/partitions/jest.config.mjs');
