// `npm run test:redis`: the tests of limits that replicas share. Needs `redis-server` beside Node. Further
// arguments go to jest.
import { bootstrap, jest } from './bootstrap.mjs';

bootstrap();
jest('--config=infra/redis/jest.config.mjs');
