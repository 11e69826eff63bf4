// Fails on new migrations with statements that lock a large table for long, or that the previous release cannot work
// with. `node scripts/check-migrations.mjs` runs it alone.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { root } from './bootstrap.mjs';
import { isProgram } from './program.mjs';

const squawk = createRequire(import.meta.url).resolve('squawk-cli/js/bin/squawk');

/** Rules about style, and those that do not apply to how `migrate` of database-kit runs migrations. */
const EXCLUDED = [
  // A migration is recorded, and repeated only after it was rolled back.
  'prefer-robust-stmts',
  'prefer-bigint-over-int',
  'prefer-identity',
  'prefer-text-field',
  // `migrate` sets it and tries again.
  'require-lock-timeout',
  // A migration that gives up needs an operator before the service can start.
  'require-statement-timeout',
];

/** What must be found in a migration, and by which rule; and what must not. */
const planted = [
  [
    'CREATE INDEX planted ON tenant_crm.contacts (tenant_id, title);',
    'require-concurrent-index-creation',
  ],
  ['DROP INDEX tenant_crm.contacts_by_name;', 'require-concurrent-index-deletion'],
  [
    'ALTER TABLE tenant_crm.contacts ALTER COLUMN title TYPE bytea USING NULL;',
    'changing-column-type',
  ],
  [
    "ALTER TABLE tenant_crm.contacts ADD CONSTRAINT contacts_title_check CHECK (title <> '');",
    'constraint-missing-not-valid',
  ],
  ['ALTER TABLE tenant_crm.contacts ALTER COLUMN title SET NOT NULL;', 'adding-not-nullable-field'],
  [
    'ALTER TABLE tenant_crm.contacts ADD COLUMN drawn float DEFAULT random();',
    'adding-field-with-default',
  ],
  ['ALTER TABLE tenant_crm.contacts DROP COLUMN title;', 'ban-drop-column'],
  [
    'CREATE TABLE tenant_crm.a (tenant_id uuid, id uuid); CREATE INDEX a_by_id ON tenant_crm.a (id);',
    undefined,
  ],
  ['CREATE INDEX CONCURRENTLY planted ON tenant_crm.contacts (tenant_id, title);', undefined],
  ['ALTER TABLE tenant_crm.contacts ADD COLUMN nickname text;', undefined],
];

/** The violations in a migration. */
const lint = (sql, path) => {
  // A migration runs in a transaction unless one of its statements cannot.
  const transaction = /\bCONCURRENTLY\b/i.test(sql) ? [] : ['--assume-in-transaction'];
  const { stdout, stderr, error } = spawnSync(
    process.execPath,
    [
      squawk,
      '--reporter=json',
      '--pg-version=15.0',
      `--exclude=${EXCLUDED.join(',')}`,
      `--stdin-filepath=${path}`,
      ...transaction,
    ],
    { input: sql, encoding: 'utf8', cwd: root },
  );
  if (error) throw error;
  if (!stdout.trim().startsWith('[')) throw new Error(`squawk failed: ${stderr || stdout}`);
  return JSON.parse(stdout);
};

const described = (path, { line, rule_name: rule, message }) =>
  `${path}:${line + 1}: ${rule}: ${message}`;

/** The migrations of both apps that are newer than the baseline. */
const newMigrations = () => {
  const baseline = JSON.parse(
    readFileSync(join(root, 'scripts', 'migrations-baseline.json'), 'utf8'),
  );
  return ['identity', 'crm'].flatMap((app) => {
    const folder = join('apps', app, 'prisma', 'migrations');
    return readdirSync(join(root, folder), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !baseline[app].includes(entry.name))
      .map(({ name }) => join(folder, name, 'migration.sql'));
  });
};

/** Whether no new migration locks a large table; throws if a planted violation is not found. */
export const migrationLocks = () => {
  for (const [sql, rule] of planted) {
    const found = lint(sql, 'planted.sql').map(({ rule_name: name }) => name);
    const isRight = rule === undefined ? found.length === 0 : found.includes(rule);
    if (!isRight)
      throw new Error(`${sql}\nexpected ${rule ?? 'nothing'}, found ${found.join(', ')}`);
  }
  const problems = newMigrations().flatMap((path) =>
    lint(readFileSync(join(root, path), 'utf8'), path).map((problem) => described(path, problem)),
  );
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) console.error('See "Migrations" in CONTRIBUTING.md.');
  return problems.length === 0;
};

if (isProgram(import.meta.url)) {
  process.exitCode = migrationLocks() ? 0 : 1;
}
