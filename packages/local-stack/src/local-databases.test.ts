import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { localDatabases } from './local-databases.ts';
import { type Postgres, startPostgres, throwawaySettings } from './postgres.ts';

let directory: string;
let postgres: Postgres | undefined;

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'tessera-local-databases-'));
});
afterEach(async () => {
  await postgres?.stop();
  await rm(directory, { recursive: true });
});

/** The files that `npm start` leaves behind, and its server. */
const startOnce = async (): Promise<Postgres> => {
  const home = path.join(directory, 'postgres');
  const started = await startPostgres({ directory: home, settings: throwawaySettings });
  await started.createDatabase('identity');
  await started.createDatabase('crm');
  await writeFile(path.join(directory, 'local.json'), '{}');
  return started;
};

const nameAt = async (connectionString: string): Promise<string> => {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return (await client.query('SELECT current_database() AS name')).rows[0].name;
  } finally {
    await client.end();
  }
};

test('The server of a running system is used and left running', async () => {
  postgres = await startOnce();
  const databases = await localDatabases(directory);
  expect(new URL(databases.crm).port).toBe(`${postgres.port}`);
  await databases.stop();
  expect(await nameAt(databases.identity)).toBe('identity');
  expect(await nameAt(databases.crm)).toBe('crm');
});

test('If the system is not running, its server is started and stopped again', async () => {
  await (await startOnce()).stop();
  const databases = await localDatabases(directory);
  expect(await nameAt(databases.identity)).toBe('identity');
  await databases.stop();
  await expect(nameAt(databases.identity)).rejects.toThrow('ECONNREFUSED');
});

test('A system that was never started is distinguished from one that is running', async () => {
  await expect(localDatabases(directory)).rejects.toThrow('run npm start once');
});
