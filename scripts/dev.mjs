// `pnpm dev:identity`, `pnpm dev:crm`: one service alone.
import { spawnSync } from 'node:child_process';
import { bootstrap, root } from './bootstrap.mjs';

const app = process.argv[2];
bootstrap();
// Ctrl-C reaches the child too; this process only waits for it.
process.on('SIGINT', () => {});
const program = `
import { develop } from ${JSON.stringify(new URL('../packages/local-stack/src/develop.ts', import.meta.url).href)};
await develop(${JSON.stringify(app)});
`;
const result = spawnSync(
  process.execPath,
  ['--conditions=source', '--import', 'tsx', '--input-type=module', '--eval', program],
  { cwd: root, stdio: 'inherit' },
);
process.exitCode = result.status ?? 1;
