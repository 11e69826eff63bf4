// `npm run test:pgbouncer`: runs both services behind PgBouncer, with a read replica of CRM. Needs `pgbouncer` and
// `redis-server`. Further arguments are passed to Jest.
import { bootstrap, jest } from './bootstrap.mjs';

bootstrap();
jest('--config=infra/pgbouncer/jest.config.mjs');
