// `npm run audit`: fails if a dependency has a known vulnerability of severity high or critical. Asks the registry, so it
// is not a part of `npm run check`: .github/workflows/security.yml runs it.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './bootstrap.mjs';

const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const { status, stdout, stderr, error } = spawnSync(
  'npx',
  ['--yes', packageManager, 'audit', '--audit-level=high', ...process.argv.slice(2)],
  { cwd: root, encoding: 'utf8', shell: process.platform === 'win32', maxBuffer: 2 ** 26 },
);
const output = `${stdout ?? ''}${stderr ?? ''}`;
console.log(output);
if (error || /ERR_PNPM_(AUDIT|META_FETCH|NO_AUDIT)|ECONNREFUSED|ENOTFOUND/.test(output)) {
  console.error('Nothing was audited: the registry does not answer this question.');
  process.exitCode = 2;
} else process.exitCode = status === 0 ? 0 : 1;
