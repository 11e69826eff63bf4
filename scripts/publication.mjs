// Prepares the packages that are published: the clients and the resource server, with the packages that they need.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { root } from './bootstrap.mjs';

const PUBLISHED = ['identity-client', 'crm-client', 'resource-server'];
const NOT_SHIPPED = /\.test\.|\.tsbuildinfo$|[/\\]dist[/\\](example|testing)$/;

const manifestOf = (name) =>
  JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'));

const internal = (manifest) =>
  Object.keys(manifest.dependencies ?? {}).flatMap((name) =>
    name.startsWith('@tessera/') ? [basename(name)] : [],
  );

/** The names of the folders of all published packages; each follows those that it needs. */
export const publishedPackages = () => {
  const ordered = new Set();
  const add = (name) => {
    for (const needed of internal(manifestOf(name))) add(needed);
    ordered.add(name);
  };
  PUBLISHED.forEach(add);
  return [...ordered];
};

/** The types of dependencies that have none of their own; the declarations of a package mention them. */
const typesOf = ({ dependencies = {}, devDependencies = {} }) =>
  Object.entries(devDependencies).filter(
    ([name]) => name.startsWith('@types/') && name.slice('@types/'.length) in dependencies,
  );

const versionOf = ([name, range]) => [
  name,
  range.startsWith('workspace:') ? manifestOf(basename(name)).version : range,
];

/** `source` leads to files that are not shipped, and so do entry points for tests of this repository. */
const shippedExports = (folder, entries) =>
  Object.fromEntries(
    Object.entries(entries).flatMap(([entry, target]) => {
      const { source: _, ...conditions } =
        typeof target === 'string' ? { default: target } : target;
      return existsSync(join(folder, conditions.default)) ? [[entry, conditions]] : [];
    }),
  );

/**
 * Writes a package as it is published to a folder: compiled files and declarations, licence, and a complete manifest.
 * @param {string} repository owner and name on GitHub, which provenance must match
 */
const stage = (name, folder, repository) => {
  const source = join(root, 'packages', name);
  const { private: _, files: __, devDependencies: ___, ...manifest } = manifestOf(name);
  mkdirSync(folder, { recursive: true });
  for (const part of readdirSync(source)) {
    const isShipped =
      ['dist', 'assets', 'README.md'].includes(part) || part.endsWith('.openapi.json');
    if (!isShipped) continue;
    const filter = (path) => !NOT_SHIPPED.test(path);
    cpSync(join(source, part), join(folder, part), { recursive: true, filter });
  }
  if (!existsSync(join(folder, 'dist'))) throw new Error(`${name} is not built.`);
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  const dependencies = [
    ...Object.entries(manifest.dependencies ?? {}),
    ...typesOf(manifestOf(name)),
  ].map(versionOf);
  const published = {
    ...manifest,
    exports: shippedExports(folder, manifest.exports),
    dependencies: Object.fromEntries(dependencies),
    engines: JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).engines,
    repository: {
      type: 'git',
      url: `git+https://github.com/${repository}.git`,
      directory: `packages/${name}`,
    },
    publishConfig: { access: 'public', provenance: true },
  };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(published, null, 2)}\n`);
};

/**
 * Packs all published packages into a folder, for `npm publish`.
 * @returns the paths of the tarballs; each follows those of the packages that it needs
 */
export const pack = (directory, repository) =>
  publishedPackages().map((name) => {
    const folder = join(directory, 'packages', name);
    stage(name, folder, repository);
    const { status, stdout, stderr, error } = spawnSync(
      'npm',
      ['pack', '--json', '--ignore-scripts', `--pack-destination=${directory}`],
      { cwd: folder, encoding: 'utf8', shell: process.platform === 'win32' },
    );
    if (status !== 0) throw new Error(`npm pack failed: ${stderr || error?.message}`);
    return join(directory, JSON.parse(stdout)[0].filename.replace('@', '').replace('/', '-'));
  });
