import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { freshDatabase } from '@tessera/local-stack';
import { MigrationError } from './migration-failures.ts';
import { migrate } from './migrations.ts';

const fromHere = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
const MINUTE = 60_000;

let directory: string;
let migrations: string;
let schema: string;

// In the package, so that prisma.config.ts finds its imports.
beforeEach(async () => {
  await mkdir(fromHere('../generated'), { recursive: true });
  directory = await mkdtemp(fromHere('../generated/fixture-'));
  migrations = path.join(directory, 'prisma/migrations');
  schema = path.join(directory, 'prisma/schema.prisma');
  await cp(fromHere('../fixture/prisma'), path.join(directory, 'prisma'), { recursive: true });
  await cp(fromHere('../fixture/prisma.config.ts'), path.join(directory, 'prisma.config.ts'));
});
afterEach(() => rm(directory, { recursive: true }));

/** Runs the wrapper; returns its exit code and its output. */
function prisma(args: string[], environment = {}): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [fromHere('../tools/prisma.mjs'), directory, ...args],
      { env: { ...process.env, ...environment } },
      (_, stdout, stderr) => resolve({ code: child.exitCode ?? 1, output: stdout + stderr }),
    );
  });
}

async function addMigration(name: string, sql: string): Promise<void> {
  await mkdir(path.join(migrations, name), { recursive: true });
  await writeFile(path.join(migrations, name, 'migration.sql'), sql);
}

async function editSchema(from: string, to: string): Promise<void> {
  const text = await readFile(schema, 'utf8');
  expect(text).toContain(from);
  await writeFile(schema, text.replace(from, to));
}

describe('The check for drift', () => {
  test(
    'finds a column that no migration creates',
    async () => {
      await editSchema('pages    Int', 'pages    Int\n  planted  String?');
      const { code, output } = await prisma(['drift']);
      expect(output).toContain('planted');
      expect(code).toBe(2);
    },
    MINUTE,
  );

  test(
    'finds a change in a migration that is missing in the schema',
    async () => {
      await addMigration('20260103000000_planted', 'DROP INDEX library.authors_email_key');
      expect(await prisma(['drift'])).toMatchObject({ code: 2 });
    },
    MINUTE,
  );

  test(
    'fails if a migration is broken or the engine does not answer',
    async () => {
      expect(await prisma(['drift'], { PRISMA_SCHEMA_ENGINE_BINARY: '/bin/true' })).toMatchObject({
        code: 1,
      });
      await addMigration('20260103000000_broken', 'SELECT no_such_function()');
      const { code, output } = await prisma(['drift']);
      expect(output).toContain('no_such_function');
      expect(code).toBe(1);
    },
    MINUTE,
  );
});

test(
  'A migration is written for the changes of the schema, and then there is no drift',
  async () => {
    await editSchema('pages    Int', 'pages    Int\n  isbn     String?');
    expect(await prisma(['migration', 'books_have_isbn'])).toMatchObject({ code: 0 });
    const name =
      (await readdir(migrations)).find((entry) => entry.endsWith('_books_have_isbn')) ?? '';
    const sql = await readFile(path.join(migrations, name, 'migration.sql'), 'utf8');
    expect(sql).toContain('ALTER TABLE "library"."books" ADD COLUMN     "isbn" TEXT');
    expect(await prisma(['drift'])).toMatchObject({ code: 0 });
  },
  MINUTE,
);

describe('Prisma itself agrees', () => {
  let url: string;
  let environment: { DATABASE_URL: string };

  beforeEach(async () => {
    ({ url } = await freshDatabase('empty', async () => {}));
    environment = { DATABASE_URL: url };
  });

  test(
    'with what migrate() applied',
    async () => {
      await migrate(url, migrations);
      const { code, output } = await prisma(['migrate', 'status'], environment);
      expect(output).toContain('Database schema is up to date');
      expect(code).toBe(0);
    },
    MINUTE,
  );

  test(
    'with what is left to do, and migrate() with what it did',
    async () => {
      expect(await prisma(['migrate', 'deploy'], environment)).toMatchObject({ code: 0 });
      expect(await migrate(url, migrations)).toEqual({ applied: [], unknown: [] });
    },
    MINUTE,
  );

  test(
    'that a migration failed, and that it is pending when it was rolled back',
    async () => {
      const name = '20260103000000_broken';
      await addMigration(name, 'SELECT no_such_function()');
      await expect(migrate(url, migrations)).rejects.toThrow(MigrationError);
      const status = await prisma(['migrate', 'status'], environment);
      expect(status.output).toMatch(/failed.*20260103000000_broken/s);
      expect(status.code).toBe(1);

      const resolve = ['migrate', 'resolve', '--rolled-back', name];
      expect(await prisma(resolve, environment)).toMatchObject({ code: 0 });
      await addMigration(name, 'SELECT 1');
      expect(await migrate(url, migrations)).toEqual({ applied: [name], unknown: [] });
    },
    MINUTE,
  );
});
