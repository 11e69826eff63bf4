// `npm run verify:deployment`: follows docs/deployment.md on a copy of this machine (Linux, root or sudo).
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bootstrap, root } from '../scripts/bootstrap.mjs';

const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

const NEEDED = {
  nginx: 'nginx-light',
  pg_createcluster: 'postgresql',
  curl: 'curl',
  openssl: 'openssl',
  ip: 'iproute2',
  'systemd-analyze': 'systemd',
};
const SYSTEMD = '/usr/lib/systemd/systemd';

const isThere = (command) =>
  spawnSync('sh', ['-c', `command -v ${command}`], {
    env: { PATH: `${process.env.PATH}:/usr/sbin:/sbin` },
  }).status === 0;

const lacking = Object.entries(NEEDED).filter(([command]) => !isThere(command));
if (lacking.length > 0 || !existsSync(SYSTEMD)) {
  const packages = lacking.length > 0 ? lacking.map(([, name]) => name) : ['systemd'];
  console.error(
    `docs/deployment.md cannot be followed without the packages ${packages.join(' ')}.`,
  );
  process.exit(1);
}
bootstrap({ build: true });

const copy = [
  'bash',
  join(root, 'infra/deployment/enter.sh'),
  root,
  process.execPath,
  join(root, 'infra/deployment/walk.mjs'),
];
const store = spawnSync('npx', ['--yes', packageManager, 'store', 'path'], {
  cwd: root,
  encoding: 'utf8',
});
const settings = [
  `PATH=${process.env.PATH}:/usr/sbin:/sbin`,
  `HOME=${process.env.HOME}`,
  `PNPM_STORE=${store.stdout.trim()}`,
];
const [command, ...args] =
  process.getuid() === 0 ? ['env', ...settings, ...copy] : ['sudo', 'env', ...settings, ...copy];
const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
process.exitCode = status ?? 1;
