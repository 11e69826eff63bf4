// `npm run test:redis`: runs the tests of shared rate limits. Needs `redis-server`. Further arguments are
// passed to Jest.
import { bootstrap, jest } from './bootstrap.mjs';

bootstrap();
jest('--config=infra/redis/jest.config.mjs');
