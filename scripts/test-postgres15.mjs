// `npm run test:postgres15`: the tests that depend on PostgreSQL most, on PostgreSQL 15. Further arguments are
// passed to Jest.
import { bootstrap, jest } from './bootstrap.mjs';
import { usePostgres15 } from './postgres15.mjs';

usePostgres15();
bootstrap();
jest('--config=infra/postgres15/jest.config.mjs');
