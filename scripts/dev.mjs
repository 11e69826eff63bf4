// `pnpm dev:identity`, `pnpm dev:crm`, `pnpm dev:crm:fake-auth`: one service alone; and
// `pnpm dev:identity-stub`: what stands for identity while one works on CRM.
import { spawnSync } from 'node:child_process';
import { bootstrap, root } from './bootstrap.mjs';

const what = process.argv[2];
bootstrap();
// Ctrl-C reaches the child too; this process only waits for it.
process.on('SIGINT', () => {});
const result = spawnSync(
  process.execPath,
  [
    ...['--conditions=source', '--import', 'tsx'],
    ...['packages/local-stack/src/develop-main.ts', what],
  ],
  { cwd: root, stdio: 'inherit', env: { ...process.env, APP_ENV: 'local' } },
);
process.exitCode = result.status ?? 1;
