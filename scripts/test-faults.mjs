// `npm run test:faults`: what both services do while their parts fail. See docs/faults.md. Needs redis-server and nginx, and Java
// and Maven for the scenarios of the document store.
import { spawnSync } from 'node:child_process';
import { install } from '../infra/s3/install.mjs';
import { bootstrap, root } from './bootstrap.mjs';

bootstrap({ bundle: true });
const args = process.argv.slice(2);
if (!args.includes('--smoke')) install();
const result = spawnSync(process.execPath, ['packages/faults/dist/main.js', ...args], {
  cwd: root,
  stdio: 'inherit',
});
process.exitCode = result.status ?? 1;
