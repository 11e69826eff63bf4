import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { type Postgres, startPostgres, throwawaySettings } from './postgres.ts';
import { until } from './until.ts';

const MINUTE = 60_000;
let directory: string;
const servers: Postgres[] = [];
const parents: ChildProcess[] = [];

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'tessera-postgres-test-'));
});
afterEach(async () => {
  for (const parent of parents.splice(0)) parent.kill('SIGKILL');
  await Promise.all(servers.splice(0).map((server) => server.stop()));
  await rm(directory, { recursive: true, force: true });
});

async function start(options = {}): Promise<Postgres> {
  const server = await startPostgres({ directory, settings: throwawaySettings, ...options });
  servers.push(server);
  return server;
}

async function ask(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** The first line of a server's lock file. */
const postmaster = async (of = directory): Promise<number> =>
  Number.parseInt(await readFile(path.join(of, 'data/postmaster.pid'), 'utf8'), 10);

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Another process that starts PostgreSQL, does nothing else, and ignores Ctrl-C. */
async function startInParent(
  options: object,
): Promise<{ parent: ChildProcess; url: string; home: string }> {
  const source = fileURLToPath(new URL('./postgres.ts', import.meta.url));
  const script = `
    process.on('SIGINT', () => {});
    setInterval(() => {}, 1000);
    const { startPostgres } = await import(${JSON.stringify(source)});
    const { url, directory } = await startPostgres(${JSON.stringify(options)});
    console.log(JSON.stringify({ url: url('postgres'), home: directory }));`;
  const parent = spawn(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '--eval', script],
    { cwd: path.dirname(source), detached: true, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  parents.push(parent);
  const [line] = await once(createInterface(parent.stdout as NodeJS.ReadableStream), 'line');
  return { parent, ...JSON.parse(String(line)) };
}

test(
  'Data survives a restart on another port',
  async () => {
    const first = await start();
    const url = await first.createDatabase('shop');
    await ask(url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    await first.stop();
    await first.stop();
    const second = await start();
    expect(await second.createDatabase('shop')).toBe(second.url('shop'));
    expect(await ask(second.url('shop'), 'SELECT * FROM kept')).toEqual([{ answer: 42 }]);
  },
  MINUTE,
);

test(
  'Data survives a crash of the server',
  async () => {
    const first = await start({ settings: {} });
    await ask(first.url('postgres'), 'CREATE TABLE kept AS SELECT 42 AS answer');
    process.kill(await postmaster(), 'SIGKILL');
    await first.exited;
    const second = await start();
    expect(await ask(second.url('postgres'), 'SELECT * FROM kept')).toEqual([{ answer: 42 }]);
  },
  MINUTE,
);

test(
  'A lock file with the id of an unrelated process does not prevent a start',
  async () => {
    await (await start()).stop();
    await writeFile(path.join(directory, 'data/postmaster.pid'), `${process.pid}\n`);
    const server = await start();
    expect(await ask(server.url('postgres'), 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  },
  MINUTE,
);

test(
  'When the parent is killed with SIGKILL, the server ends and its temporary directory is removed',
  async () => {
    const { parent, home } = await startInParent({ settings: throwawaySettings });
    const server = await postmaster(home);
    parent.kill('SIGKILL');
    await until(() => !isAlive(server));
    await until(() => !existsSync(home));
  },
  MINUTE,
);

test(
  'A start right after the parent was killed waits for the previous server, and finds the data',
  async () => {
    const { parent, url } = await startInParent({ directory });
    await ask(url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    const previous = await postmaster();
    parent.kill('SIGKILL');
    const server = await start();
    expect(await postmaster()).not.toBe(previous);
    expect(await ask(server.url('postgres'), 'SELECT * FROM kept')).toEqual([{ answer: 42 }]);
  },
  MINUTE,
);

test(
  "The terminal's Ctrl-C does not stop the server; its parent does",
  async () => {
    const { parent, url } = await startInParent({ settings: throwawaySettings });
    process.kill(-(parent.pid as number), 'SIGINT');
    await ask(url, 'SELECT pg_sleep(0.2)');
    expect(await ask(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  },
  MINUTE,
);

test(
  'A port in use is named in the error',
  async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const port = (holder.address() as { port: number }).port;
    const refusal = await start({ port }).catch((error) => error);
    holder.close();
    expect(refusal.message).toContain(`did not start on port ${port}: `);
    expect(refusal.message).toContain('Address already in use');
  },
  MINUTE,
);

test(
  'Connections require the password',
  async () => {
    const server = await start();
    const stranger = new URL(server.url('postgres'));
    stranger.password = 'postgres';
    await expect(ask(stranger.href, 'SELECT 1')).rejects.toThrow(/password authentication failed/);
  },
  MINUTE,
);

test(
  'Non-ASCII letters count as letters, and the sort order does not depend on the machine',
  async () => {
    const server = await start();
    const sql = `SELECT lower('ÉПΩ') AS lower, 'a' < 'B' AS mixed, cardinality(show_trgm('Привет')) AS trigrams`;
    await ask(server.url('postgres'), 'CREATE EXTENSION pg_trgm');
    expect(await ask(server.url('postgres'), sql)).toEqual([
      { lower: 'éпω', mixed: false, trigrams: 7 },
    ]);
  },
  MINUTE,
);
