// Checks the packages that are published: installed from their tarballs, with only the dependencies that they declare,
// they can be imported and type-checked, and the examples in the READMEs of the clients compile.
// `node scripts/check-publication.mjs` runs it alone, after a build.
import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { root } from './bootstrap.mjs';
import { isProgram } from './program.mjs';
import { pack, publishedPackages } from './publication.mjs';

const program = `import { type paths as CrmPaths, createCrmClient } from '@tessera/crm-client';
import { createIdentityClient } from '@tessera/identity-client';
import { createResourceServer } from '@tessera/resource-server';

export type Contacts = CrmPaths['/api/crm/contacts']['get'];
const crm = createCrmClient({ baseUrl: 'http://127.0.0.1:9' });
const identity = createIdentityClient({ baseUrl: 'http://127.0.0.1:9' });
export const contacts = () => crm.GET('/api/crm/contacts', { params: { query: { page: 1 } } });
export const me = () => identity.GET('/api/me');
for (const it of [crm.GET, identity.GET, createResourceServer]) {
  if (typeof it !== 'function') throw new Error('An export is missing.');
}
`;

const execute = (command, args, cwd) => {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  return status === 0 ? undefined : `${stdout}${stderr}${error?.message ?? ''}`;
};

const demand = (fault) => {
  if (fault !== undefined) throw new Error(fault);
};

/** Unpacks a tarball as npm installs it; the dependencies that it declares are those of this repository. */
const install = (tarball, name, modules) => {
  const folder = join(modules, '@tessera', name);
  mkdirSync(folder, { recursive: true });
  demand(execute('tar', ['--extract', '--strip-components=1', `--file=${tarball}`], folder));
  const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  for (const dependency of Object.keys(dependencies)) {
    if (dependency.startsWith('@tessera/')) continue;
    const link = join(folder, 'node_modules', dependency);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(realpathSync(join(root, 'packages', name, 'node_modules', dependency)), link);
  }
  return folder;
};

const contentFaults = (folder) => {
  const files = readdirSync(folder, { recursive: true }).filter(
    (file) => !file.startsWith('node_modules'),
  );
  const required = [
    'LICENSE',
    'package.json',
    join('dist', 'index.js'),
    join('dist', 'index.d.ts'),
  ];
  return [
    ...required.filter((file) => !files.includes(file)).map((file) => `lacks ${file}`),
    ...files
      .filter((file) => /\.test\.|\.tsbuildinfo$|^src/.test(file))
      .map((file) => `has ${file}`),
  ].map((fault) => `${folder}: ${fault}`);
};

/** Type-checks and compiles a program that uses the packages; returns what is wrong. */
const compile = (directory, source) => {
  writeFileSync(join(directory, 'use.ts'), source);
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const options = ['--ignoreConfig', '--strict', '--module', 'nodenext', '--target', 'es2023'];
  // Ambient types that the declarations mention are those of Node.
  const types = ['--types', 'node', '--outDir', 'out'];
  return execute(process.execPath, [compiler, ...options, ...types, 'use.ts'], directory);
};

/** Type-checks and imports a program that uses the packages; returns what is wrong. */
const use = (directory, source) =>
  compile(directory, source) ?? execute(process.execPath, ['out/use.js'], directory);

/** The program in the README of an installed client. */
const exampleOf = (modules, name) => {
  const text = readFileSync(join(modules, '@tessera', name, 'README.md'), 'utf8');
  const [, code] = /^```ts\n(.*?)^```$/ms.exec(text) ?? [];
  if (!code) throw new Error(`The README of ${name} has no example.`);
  return code;
};

/** Whether the published packages work; throws if they do not. */
export const publication = () => {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'tessera-publication-')));
  try {
    const tarballs = pack(directory, 'owner/name');
    const modules = join(directory, 'node_modules');
    const names = publishedPackages();
    const faults = tarballs.flatMap((tarball, at) =>
      contentFaults(install(tarball, names[at], modules)),
    );
    if (faults.length > 0) throw new Error(faults.join('\n'));
    mkdirSync(join(modules, '@types'), { recursive: true });
    symlinkSync(realpathSync(join(root, 'node_modules/@types/node')), join(modules, '@types/node'));
    writeFileSync(join(directory, 'package.json'), '{ "type": "module" }');
    demand(use(directory, program));
    for (const client of ['identity-client', 'crm-client']) {
      demand(compile(directory, exampleOf(modules, client)));
    }
    const wrong = program.replace("'/api/me'", "'/api/you'");
    if (!use(directory, wrong)?.includes('use.ts(9,')) {
      throw new Error('A planted wrong path passes the type check.');
    }
    rmSync(join(modules, '@tessera', 'scope-matcher'), { recursive: true });
    if (!use(directory, program)?.includes('@tessera/scope-matcher')) {
      throw new Error('A planted missing dependency is not found.');
    }
    return true;
  } finally {
    rmSync(directory, { recursive: true });
  }
};

if (isProgram(import.meta.url)) {
  process.exitCode = publication() ? 0 : 1;
}
