// `npm run test:pgbouncer`: runs both services behind PgBouncer. Needs `pgbouncer`. Further arguments are passed
// to Jest.
import { bootstrap, jest } from './bootstrap.mjs';

bootstrap();
jest('--config=infra/pgbouncer/jest.config.mjs');
