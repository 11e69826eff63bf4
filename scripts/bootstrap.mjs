// Prepares a checkout: installs dependencies, generates the database clients and, on request, builds. Skips
// steps whose inputs have not changed. Needs only Node, since it runs before anything is installed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
const stamps = join(root, 'node_modules', '.tessera');

const requireNode = () => {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  console.error(`Tessera needs Node 20.19 or newer; this is ${process.version}.`);
  process.exit(1);
};

/**
 * Runs a command with inherited standard output; a failure ends this process with its exit code.
 */
export const run = (command, args, environment = {}) => {
  const result = spawnSync(command, args, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...environment },
    // On Windows, npm and npx are scripts; the path of Node may contain spaces ("Program Files"), which a shell
    // would split.
    shell: process.platform === 'win32' && command !== process.execPath,
  });
  if (result.status !== 0) process.exit(result.status ?? 1);
};

/** Runs a verbose command; its output is shown only on failure. */
const runQuietly = (command, args) => {
  const result = spawnSync(command, args, { cwd: root, encoding: 'utf8' });
  if (result.status === 0) return;
  console.error(`${result.stdout ?? ''}${result.stderr ?? ''}${result.error?.message ?? ''}`);
  process.exit(result.status ?? 1);
};

const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** Runs the pinned version of pnpm, regardless of what is installed. */
export const pnpm = (...args) => run('npx', ['--yes', packageManager, ...args]);

/** Runs Jest with these arguments, followed by those of this process. */
export const jest = (...args) =>
  run(process.execPath, [
    '--experimental-vm-modules',
    '--no-warnings',
    'node_modules/jest/bin/jest.js',
    ...args,
    ...process.argv.slice(2),
  ]);

const filesBelow = (directory, matches) =>
  readdirSync(join(root, directory), { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (['node_modules', 'dist', 'generated'].includes(entry.name)) return [];
    if (entry.isDirectory()) return filesBelow(path, matches);
    return matches(entry.name) ? [path] : [];
  });

const contentsOf = (paths) => {
  const hash = createHash('sha256').update(process.version);
  for (const path of paths.sort()) hash.update(path).update(readFileSync(join(root, path)));
  return hash.digest('hex');
};

const datesOf = (paths) => {
  const hash = createHash('sha256');
  for (const path of paths.sort()) hash.update(`${path} ${statSync(join(root, path)).mtimeMs}`);
  return hash.digest('hex');
};

/**
 * Runs a step and prints it, unless its results exist and its fingerprint matches the last recorded run.
 */
const unlessDone = ({ name, says, results, fingerprint }, work) => {
  const stamp = join(stamps, name);
  const isThere = [stamp, ...results.map((path) => join(root, path))].every(existsSync);
  if (isThere && readFileSync(stamp, 'utf8') === fingerprint) return;
  console.log(says);
  work();
  mkdirSync(stamps, { recursive: true });
  writeFileSync(stamp, fingerprint);
};

const workspace = ['apps', 'packages'];
const isManifest = (name) => name === 'package.json';

export const bootstrap = ({ bundle = false, build = bundle } = {}) => {
  requireNode();
  const manifests = [
    'package.json',
    'pnpm-lock.yaml',
    'pnpm-workspace.yaml',
    '.pnpmfile.cjs',
    ...workspace.flatMap((directory) => filesBelow(directory, isManifest)),
    ...filesBelow('patches', () => true),
  ];
  const installation = {
    name: 'installed',
    says: 'Installing dependencies (about a minute the first time)...',
    results: ['node_modules/.modules.yaml'],
    fingerprint: contentsOf(manifests),
  };
  unlessDone(installation, () => {
    pnpm('install', '--frozen-lockfile', '--prefer-offline', '--reporter=append-only');
  });
  for (const app of ['identity', 'crm']) {
    const schemas = filesBelow(`apps/${app}`, (name) =>
      /^(schema\.prisma|prisma\.config\.ts)$/.test(name),
    );
    const generation = {
      name: `generated-${app}`,
      says: `Generating the database client of ${app}...`,
      results: [`apps/${app}/src/generated`],
      fingerprint: contentsOf([
        'pnpm-lock.yaml',
        'packages/database-kit/tools/prisma.mjs',
        ...schemas,
      ]),
    };
    unlessDone(generation, () => {
      runQuietly(process.execPath, ['packages/database-kit/tools/prisma.mjs', app, 'generate']);
    });
  }
  if (!build) return;
  const sources = workspace.flatMap((directory) =>
    filesBelow(directory, (name) => /\.(ts|json|prisma)$/.test(name)),
  );
  const settings = ['tsconfig.json', 'tsconfig.base.json', 'pnpm-lock.yaml'];
  const compilation = {
    name: 'built',
    says: 'Compiling (about half a minute)...',
    results: ['packages/local-stack', 'apps/identity', 'apps/crm'].map(
      (folder) => `${folder}/dist`,
    ),
    fingerprint: datesOf([...settings, ...sources]),
  };
  unlessDone(compilation, () => {
    run(process.execPath, ['node_modules/typescript/bin/tsc', '-b']);
  });
  if (!bundle) return;
  const bundling = {
    name: 'bundled',
    says: 'Bundling both services...',
    results: ['identity', 'crm'].map((app) => `apps/${app}/dist/bundle/main.js`),
    fingerprint: datesOf(['scripts/bundle.mjs', ...settings, ...sources]),
  };
  unlessDone(bundling, () => {
    run(process.execPath, ['scripts/bundle.mjs']);
  });
};
