// `npm run test:browser`: tests the pages in Chromium, which must be installed. Further arguments are passed to
// Jest. `SCREENSHOTS=true` writes screenshots of all pages to `.data/screenshots`.
import { existsSync } from 'node:fs';
import { bootstrap, jest } from './bootstrap.mjs';

/** The first one draws without the windows and menus of the other, and takes half of its CPU time. */
const programs = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];

const chromium = process.env.CHROMIUM_PATH || programs.find(existsSync);
if (!chromium || !existsSync(chromium)) {
  console.error(
    `${chromium ?? programs.join(' or ')} does not exist. Install Chromium (Debian: apt-get install chromium-headless-shell) or set CHROMIUM_PATH.`,
  );
  process.exit(1);
}

bootstrap();
process.env.CHROMIUM_PATH = chromium;
jest('--config=infra/browser/jest.config.mjs');
