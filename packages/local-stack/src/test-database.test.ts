import pg from 'pg';
import { freshDatabase } from './test-database.ts';

const template = `test_${process.pid}`;
let preparations = 0;

async function run(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

async function prepare(url: string): Promise<void> {
  preparations += 1;
  await run(url, 'CREATE TABLE notes (text text)');
}

test('Databases are independent copies of a template that is prepared once', async () => {
  const databases = await Promise.all([1, 2, 3].map(() => freshDatabase(template, prepare)));
  for (const { url } of databases) {
    expect(await run(url, 'SELECT * FROM notes')).toEqual([]);
    await run(url, "INSERT INTO notes VALUES ('mine')");
  }
  expect(preparations).toBe(1);
});

test('A failed preparation is retried by the next test file', async () => {
  const name = `${template}_retried`;
  const failing = freshDatabase(name, async (url) => {
    await prepare(url);
    throw new Error('half way');
  });
  await expect(failing).rejects.toThrow('half way');
  const { url } = await freshDatabase(name, prepare);
  expect(await run(url, 'SELECT * FROM notes')).toEqual([]);
});

test('A database is dropped even if clients are connected to it', async () => {
  const { url, drop } = await freshDatabase(template, prepare);
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  await drop();
  await expect(run(url, 'SELECT 1')).rejects.toThrow(/does not exist/);
  await client.end();
});

test('The server is of the release that TEST_POSTGRES_BINARIES selects, 18 by default', async () => {
  const database = await freshDatabase('empty', async () => {});
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query('SHOW server_version');
  await client.end();
  await database.drop();
  expect(rows[0].server_version).toMatch(
    new RegExp(`^${process.env.TEST_POSTGRES_RELEASE ?? '18'}\\.`),
  );
});
