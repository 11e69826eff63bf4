#!/usr/bin/env node
// The Prisma CLI for one app, without a network and without a database of your own:
//
//   node packages/database-kit/tools/prisma.mjs <identity|crm> generate          the client, from the schema
//   node packages/database-kit/tools/prisma.mjs <identity|crm> migration <name>  a migration, from what changed in the schema
//   node packages/database-kit/tools/prisma.mjs <identity|crm> drift             0: migrations make the schema; 2: they do not
//   node packages/database-kit/tools/prisma.mjs <identity|crm> <any prisma command ...>
//
// A path instead of an app's name works too.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { tsImport } from 'tsx/esm/api';

const fromHere = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const [app, command, ...rest] = process.argv.slice(2);
const directory = /[/\\]/.test(app ?? '') ? path.resolve(app) : fromHere(`../../../apps/${app}`);
const migrations = path.join(directory, 'prisma/migrations');
const fromMigrationsToSchema = ['--from-migrations', 'prisma/migrations', '--to-schema', 'prisma/schema.prisma'];

if (!app || !command || !existsSync(path.join(directory, 'prisma.config.ts'))) {
  console.error('usage: prisma.mjs <identity|crm|path> <generate|migration <name>|drift|prisma command ...>');
  process.exit(1);
}

/** Runs the CLI in the app's directory; gives its exit code. */
function prisma(args, environment = {}) {
  const cli = createRequire(import.meta.url).resolve('prisma/build/index.js');
  const child = spawn(process.execPath, [cli, ...args], {
    cwd: directory,
    stdio: 'inherit',
    env: {
      ...process.env,
      CHECKPOINT_DISABLE: '1',
      PRISMA_HIDE_UPDATE_MESSAGE: '1',
      // Without it every command, `generate` included, first tries to download an engine. A script is
      // no executable on Windows, where the download stays.
      ...(process.platform !== 'win32' && { PRISMA_SCHEMA_ENGINE_BINARY: fromHere('schema-engine.mjs') }),
      ...environment,
    },
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 1));
  });
}

async function withThrowawayDatabase(work) {
  const { startPostgres, throwawaySettings } = await tsImport('../../local-stack/src/postgres.ts', import.meta.url);
  const postgres = await startPostgres({ settings: throwawaySettings });
  try {
    return await work({ DATABASE_URL: postgres.url('postgres') });
  } finally {
    await postgres.stop();
  }
}

/** Writes prisma/migrations/<time>_<name>/migration.sql; it may be edited until it is applied somewhere. */
async function migration(name) {
  if (!/^[a-z][a-z0-9_]*$/.test(name ?? '')) throw new Error('a migration is named in lower_case_words');
  const folder = `${new Date().toISOString().replace(/\D/g, '').slice(0, 14)}_${name}`;
  mkdirSync(migrations, { recursive: true });
  writeFileSync(path.join(migrations, 'migration_lock.toml'), 'provider = "postgresql"\n');
  const output = ['--script', '--output', `prisma/migrations/${folder}/migration.sql`];
  const code = await withThrowawayDatabase((environment) =>
    prisma(['migrate', 'diff', ...fromMigrationsToSchema, ...output], environment),
  );
  if (code === 0) console.log(`prisma/migrations/${folder}/migration.sql`);
  return code;
}

const ours = {
  migration: () => migration(rest[0]),
  drift: () =>
    withThrowawayDatabase((environment) =>
      prisma(['migrate', 'diff', ...fromMigrationsToSchema, '--exit-code', ...rest], environment),
    ),
};

process.exitCode = await (ours[command]?.() ?? prisma([command, ...rest]));
