import { randomUUID } from 'node:crypto';
import pg from 'pg';

export interface TestDatabase {
  url: string;
  /** Optional, because the server ends with the run. Closes remaining connections. */
  drop(): Promise<void>;
}

/**
 * A new database for a test file on the PostgreSQL of this Jest run. `prepare` (migrations) runs once per
 * template name and run; all databases are copies of that template.
 */
export async function freshDatabase(
  template: string,
  prepare: (url: string) => Promise<unknown>,
): Promise<TestDatabase> {
  const server = await serverUrl();
  const name = `${template}_${randomUUID()}`;
  await asAdmin(server, async (admin) => {
    await admin.query('SELECT pg_advisory_lock(hashtext($1))', [template]);
    await ensureTemplate(admin, template, () => prepare(databaseUrl(server, template)));
    await admin.query('SELECT pg_advisory_unlock(hashtext($1))', [template]);
    await admin.query(`CREATE DATABASE ${quoted(name)} TEMPLATE ${quoted(template)}`);
  });
  return {
    url: databaseUrl(server, name),
    drop: () =>
      asAdmin(server, async (admin) => {
        await admin.query(`DROP DATABASE IF EXISTS ${quoted(name)} WITH (FORCE)`);
      }),
  };
}

async function ensureTemplate(
  admin: pg.Client,
  template: string,
  prepare: () => Promise<unknown>,
): Promise<void> {
  const { rowCount } = await admin.query(
    'SELECT FROM pg_database WHERE datname = $1 AND datistemplate',
    [template],
  );
  if (rowCount) return;
  // If it exists without being a template, its preparation failed in another file.
  await admin.query(`DROP DATABASE IF EXISTS ${quoted(template)} WITH (FORCE)`);
  await admin.query(`CREATE DATABASE ${quoted(template)}`);
  await prepare();
  // A database with open connections cannot be copied.
  await admin.query(
    `ALTER DATABASE ${quoted(template)} WITH IS_TEMPLATE true ALLOW_CONNECTIONS false`,
  );
}

async function serverUrl(): Promise<string> {
  const address = process.env.TEST_POSTGRES;
  if (!address)
    throw new Error('Jest was started without its globalSetup, local-stack/src/jest-setup.ts');
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(await answer.text());
  return answer.text();
}

async function asAdmin(url: string, work: (admin: pg.Client) => Promise<void>): Promise<void> {
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  try {
    await work(admin);
  } finally {
    await admin.end();
  }
}

function databaseUrl(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${encodeURIComponent(name)}`;
  return url.href;
}

const quoted = (name: string): string => pg.escapeIdentifier(name);
