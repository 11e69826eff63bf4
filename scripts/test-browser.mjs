// `pnpm test:browser`: the pages for people in Chromium. Needs that beside Node. Further arguments go to
// jest. Screenshots of every page are in `.data/screenshots` afterwards.
import { existsSync } from 'node:fs';
import { bootstrap, run } from './bootstrap.mjs';

const chromium = process.env.CHROMIUM_PATH || '/usr/bin/chromium';
if (!existsSync(chromium)) {
  console.error(
    `There is no ${chromium}: install Chromium (Debian: apt-get install chromium), or set CHROMIUM_PATH.`,
  );
  process.exit(1);
}

bootstrap();
run(process.execPath, [
  '--experimental-vm-modules',
  '--no-warnings',
  'node_modules/jest/bin/jest.js',
  '--config=infra/browser/jest.config.mjs',
  ...process.argv.slice(2),
]);
