// `pnpm seed`: tenants, users and records of any number. `pnpm seed --help` tells the options.
import { spawn } from 'node:child_process';
import { bootstrap, root } from './bootstrap.mjs';

bootstrap();
const seeding = spawn(
  process.execPath,
  [
    ...['--conditions=source', '--import', 'tsx', 'packages/seeding/src/cli.ts'],
    ...process.argv.slice(2),
  ],
  { cwd: root, stdio: 'inherit' },
);
// Ctrl-C reaches both; this process only waits then.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => seeding.kill());
seeding.on('exit', (code) => {
  process.exitCode = code ?? 1;
});
