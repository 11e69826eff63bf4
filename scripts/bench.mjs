// `npm run bench`: benchmarks of the system against the underlying libraries. See docs/benchmarks.md.
import { spawnSync } from 'node:child_process';
import { bootstrap, root } from './bootstrap.mjs';

bootstrap({ bundle: true });
const result = spawnSync(
  process.execPath,
  ['packages/benchmarks/dist/main.js', ...process.argv.slice(2)],
  { cwd: root, stdio: 'inherit' },
);
process.exitCode = result.status ?? 1;
