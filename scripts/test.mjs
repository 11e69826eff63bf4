// `npm test`: everything that needs Node alone. Further arguments go to jest.
import { bootstrap, run } from './bootstrap.mjs';

bootstrap();
run(process.execPath, [
  '--experimental-vm-modules',
  '--no-warnings',
  'node_modules/jest/bin/jest.js',
  ...process.argv.slice(2),
]);
