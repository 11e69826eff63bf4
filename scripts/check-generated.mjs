import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './bootstrap.mjs';

const generated = [
  'apps/crm/openapi.json',
  'docs/configuration.md',
  'apps/identity/openapi.json',
  'packages/contracts/asyncapi.json',
  'apps/crm/asyncapi.json',
  'packages/crm-client/src',
  'packages/deployment-automation-client/src',
  'packages/identity-client/src',
  'infra/observability/dashboards',
];

const git = (...args) => spawnSync('git', args, { cwd: root, encoding: 'utf8' });

/** Differences from the commit, including untracked files. */
const difference = () => {
  git('add', '--intent-to-add', '--', ...generated);
  const { status, stdout } = git('diff', '--exit-code', 'HEAD', '--', ...generated);
  return status === 0 ? '' : stdout;
};

/** Regenerates everything; any difference is a failure. */
export const fresh = () => {
  const run = spawnSync(process.execPath, ['scripts/generate.mjs'], {
    cwd: root,
    stdio: 'inherit',
  });
  if (run.status !== 0) throw new Error('Generating failed.');
  const stale = difference();
  if (stale)
    throw new Error(
      `Generated files are stale; run "npm run generate" and commit.\n${stale.slice(0, 4000)}`,
    );

  const planted = join(root, 'packages/crm-client/src/planted.ts');
  writeFileSync(planted, 'export {};\n');
  const noticed = difference();
  git('reset', '--quiet', '--', planted);
  rmSync(planted);
  if (!noticed) throw new Error('A new generated file is not detected.');
};
