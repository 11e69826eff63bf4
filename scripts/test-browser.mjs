// `npm run test:browser`: tests the pages in Chromium, which must be installed. Further arguments are passed to
// Jest. Screenshots of all pages are written to `.data/screenshots`.
import { existsSync } from 'node:fs';
import { bootstrap, jest } from './bootstrap.mjs';

const chromium = process.env.CHROMIUM_PATH || '/usr/bin/chromium';
if (!existsSync(chromium)) {
  console.error(
    `${chromium} does not exist. Install Chromium (Debian: apt-get install chromium) or set CHROMIUM_PATH.`,
  );
  process.exit(1);
}

bootstrap();
jest('--config=infra/browser/jest.config.mjs');
