// Run by scripts/dev.mjs to start one service, or only the identity stub. The second argument overrides the data
// folder.
import { develop, isDevelopment } from './develop.ts';

const [what = '', directory] = process.argv.slice(2);

try {
  if (what === 'identity-stub') await import('./identity-stub/main.ts');
  else if (isDevelopment(what)) await develop(what, directory);
  else throw new Error(`Unknown service "${what}".`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
