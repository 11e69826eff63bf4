// `npm run verify:restore`: backs CRM's database up while CRM writes, deletes rows by mistake, and restores the time
// before. Needs PostgreSQL 15 with its client programs. Further arguments are passed to Jest.
import { bootstrap, jest } from './bootstrap.mjs';
import { usePostgres15 } from './postgres15.mjs';

usePostgres15();
bootstrap();
jest('--config=infra/restore/jest.config.mjs');
