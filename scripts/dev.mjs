// `pnpm dev:identity`, `pnpm dev:crm`, `pnpm dev:crm:fake-auth`: one service alone; and
// `pnpm dev:identity-stub`: what stands for identity while one works on CRM.
import { spawn } from 'node:child_process';
import { bootstrap, root } from './bootstrap.mjs';

bootstrap();
const program = spawn(
  process.execPath,
  [
    ...['--conditions=source', '--import', 'tsx'],
    ...['packages/local-stack/src/develop-main.ts', process.argv[2]],
  ],
  { cwd: root, stdio: 'inherit', env: { ...process.env, APP_ENV: 'local' } },
);
// Whoever ends this process, and not its group as Ctrl-C does, means the program.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.on(signal, () => program.kill(signal));
program.on('exit', (code) => {
  process.exitCode = code ?? 1;
});
