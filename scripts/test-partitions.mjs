// `npm run test:partitions`: the tests of CRM's records on tables that are partitioned by tenant, which hold each
// statement of the service against its plan: it may touch one partition, as it may touch one server of a Citus
// cluster. Further arguments go to jest.
import { bootstrap, jest } from './bootstrap.mjs';

bootstrap();
process.env.TEST_CRM_TABLES = 'partitioned';
jest('--config=infra/partitions/jest.config.mjs');
