// What scripts/dev.mjs runs: one service alone, or the identity stub alone. Other data than the usual
// ones where a directory is given.
import { develop, isDevelopment } from './develop.ts';

const [what = '', directory] = process.argv.slice(2);

try {
  if (what === 'identity-stub') await import('./identity-stub/main.ts');
  else if (isDevelopment(what)) await develop(what, directory);
  else throw new Error(`There is nothing called "${what}" to develop.`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
