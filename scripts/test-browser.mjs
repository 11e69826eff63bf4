// `pnpm test:browser`: the pages for people in Chromium. Needs that beside Node. Further arguments go to
// jest. Screenshots of every page are in `.data/screenshots` afterwards.
import { bootstrap, run } from './bootstrap.mjs';

bootstrap();
run(process.execPath, [
  '--experimental-vm-modules',
  '--no-warnings',
  'node_modules/jest/bin/jest.js',
  '--config=infra/browser/jest.config.mjs',
  ...process.argv.slice(2),
]);
