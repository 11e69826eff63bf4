#!/usr/bin/env node
// Runs the Prisma CLI for one app, without a network or a database of your own:
//
//   node packages/database-kit/tools/prisma.mjs <app> generate          generates the client from the schema
//   node packages/database-kit/tools/prisma.mjs <app> migration <name>  writes a migration for the changes of the schema
//   node packages/database-kit/tools/prisma.mjs <app> drift             exits with 2 if migrations and schema differ
//   node packages/database-kit/tools/prisma.mjs <app> <any other prisma command ...>
//
// <app> is identity, crm, or the path of a directory with a prisma.config.ts.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const fromHere = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const [app = '', command, ...rest] = process.argv.slice(2);
const directory = path.resolve(/[/\\]/.test(app) ? app : fromHere(`../../../apps/${app}`));
const migrations = path.join(directory, 'prisma', 'migrations');

const environment = {
  ...process.env,
  CHECKPOINT_DISABLE: '1',
  PRISMA_HIDE_UPDATE_MESSAGE: '1',
};
// Without it, every command, even `generate`, first tries to download an engine. Windows cannot run a script
// as an executable, so the engine is downloaded there.
if (process.platform !== 'win32') {
  environment.PRISMA_SCHEMA_ENGINE_BINARY ??= fromHere('schema-engine.mjs');
}

/** Runs the CLI in the app's directory; returns its exit code and, with `read`, its output. */
async function prisma(args, { env = environment, read = false } = {}) {
  const cli = createRequire(import.meta.url).resolve('prisma/build/index.js');
  const stdio = ['inherit', read ? 'pipe' : 'inherit', 'inherit'];
  const child = spawn(process.execPath, [cli, ...args], { cwd: directory, stdio, env });
  const [[code], output] = await Promise.all([once(child, 'exit'), read ? text(child.stdout) : '']);
  return { code: code ?? 1, output };
}

/** Compares the database that the migrations create, on a temporary PostgreSQL, with the schema. */
async function compare(args, options) {
  const { tsImport } = await import('tsx/esm/api');
  const source = '../../local-stack/src/postgres.ts';
  const { startPostgres, throwawaySettings } = await tsImport(source, import.meta.url);
  const postgres = await startPostgres({ settings: throwawaySettings });
  const sides = ['--from-migrations', 'prisma/migrations', '--to-schema', 'prisma/schema.prisma'];
  try {
    const env = { ...environment, DATABASE_URL: postgres.url('postgres') };
    return await prisma(['migrate', 'diff', ...sides, ...args], { ...options, env });
  } finally {
    await postgres.stop();
  }
}

/**
 * The generated client imports its query compiler as a module that contains it in base64: the text of the module and the
 * string in it would stay in memory, 2.3 MB each, after they have been decoded. A file that is read does not.
 */
function readCompilerFromFile() {
  const file = ['src/generated', 'generated']
    .map((folder) => path.join(directory, folder, 'prisma/internal/class.ts'))
    .find(existsSync);
  const generated = file === undefined ? '' : readFileSync(file, 'utf8');
  const importing = /const \{ wasm \} = await import\(("[^"]+\.wasm-base64\.mjs")\)/;
  if (!importing.test(generated)) {
    throw new Error('The generated client does not import its query compiler as expected.');
  }
  const reading = `const { readFile } = await import("node:fs/promises")
    const { createRequire } = await import("node:module")
    const module = await readFile(createRequire(import.meta.url).resolve($1), "latin1")
    const [, wasm] = /"([A-Za-z0-9+/=]+)"/.exec(module)`;
  writeFileSync(file, generated.replace(importing, reading));
}

const own = {
  async generate() {
    const { code } = await prisma(['generate', ...rest]);
    if (code === 0) readCompilerFromFile();
    return code;
  },

  async drift() {
    const { code, output } = await compare(['--exit-code'], { read: true });
    process.stdout.write(output);
    // The CLI also exits with 0 if its engine crashes, so only its output proves success.
    return code === 0 && !output.includes('No difference detected') ? 1 : code;
  },

  async migration() {
    const [name = ''] = rest;
    if (!/^[a-z][a-z0-9_]*$/.test(name)) {
      console.error(`The name of a migration consists of lower_case_words, not "${name}".`);
      return 1;
    }
    mkdirSync(migrations, { recursive: true });
    writeFileSync(path.join(migrations, 'migration_lock.toml'), 'provider = "postgresql"\n');
    const { code, output } = await compare(['--script'], { read: true });
    if (code !== 0 || output.trim() === '') return code || 1;
    const time = new Date().toISOString().replace(/\D/g, '').slice(0, 14);
    const folder = path.join(migrations, `${time}_${name}`);
    mkdirSync(folder);
    writeFileSync(path.join(folder, 'migration.sql'), `${output.trim()}\n`);
    console.log(path.relative(process.cwd(), path.join(folder, 'migration.sql')));
    return 0;
  },
};

if (!command || !existsSync(path.join(directory, 'prisma.config.ts'))) {
  console.error(
    'usage: prisma.mjs <identity|crm|path> <generate|migration|drift|prisma command ...>',
  );
  process.exitCode = 1;
} else {
  process.exitCode = (await own[command]?.()) ?? (await prisma([command, ...rest])).code;
}
