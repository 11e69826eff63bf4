// `pnpm test:redis`: the tests of limits that replicas share. Needs `redis-server` beside Node. Further
// arguments go to jest.
import { bootstrap, run } from './bootstrap.mjs';

bootstrap();
run(process.execPath, [
  '--experimental-vm-modules',
  '--no-warnings',
  'node_modules/jest/bin/jest.js',
  '--config=infra/redis/jest.config.mjs',
  ...process.argv.slice(2),
]);
