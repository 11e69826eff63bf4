// `npm run test:browser`: the pages for people in Chromium. Needs that beside Node. Further arguments go to
// jest. Screenshots of every page are in `.data/screenshots` afterwards.
import { existsSync } from 'node:fs';
import { bootstrap, jest } from './bootstrap.mjs';

const chromium = process.env.CHROMIUM_PATH || '/usr/bin/chromium';
if (!existsSync(chromium)) {
  console.error(
    `There is no ${chromium}: install Chromium (Debian: apt-get install chromium), or set CHROMIUM_PATH.`,
  );
  process.exit(1);
}

bootstrap();
jest('--config=infra/browser/jest.config.mjs');
