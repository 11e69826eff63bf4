import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from './free-port.ts';
import { until } from './until.ts';

const LIMIT_MS = 120_000;
const main = fileURLToPath(new URL('develop-main.ts', import.meta.url));
const loader = import.meta.resolve('tsx');

let directory: string;
let crmUrl: string;
let stubUrl: string;
const running: ChildProcess[] = [];

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'tessera-develop-'));
  crmUrl = `http://127.0.0.1:${await freePort()}`;
  stubUrl = `http://127.0.0.1:${await freePort()}`;
});
afterEach(async () => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
  await until(nothingRuns);
});
afterAll(() => rm(directory, { recursive: true }));

const answers = (url: string): Promise<boolean> =>
  fetch(url).then(
    () => true,
    () => false,
  );

/** Neither CRM nor the stub responds, and PostgreSQL has removed its lock file. */
const nothingRuns = async (): Promise<boolean> =>
  !(await answers(crmUrl)) &&
  !(await answers(stubUrl)) &&
  !existsSync(path.join(directory, 'crm/postgres/data/postmaster.pid'));

const launch = (what: string, environment: Record<string, string> = {}) => {
  const child = spawn(
    process.execPath,
    ['--conditions=source', '--import', loader, main, what, directory],
    {
      env: {
        PATH: process.env.PATH,
        CRM_PORT: new URL(crmUrl).port,
        IDENTITY_STUB_PORT: new URL(stubUrl).port,
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  running.push(child);
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
  }
  return { child, ended, output: () => output };
};

/** Starts one service, and waits for the notice that it prints when the service is ready. */
const start = async (what: string, notice: string, environment: Record<string, string> = {}) => {
  const launched = launch(what, environment);
  const { child, output } = launched;
  await until(() => output().includes(notice) || child.exitCode !== null);
  // The notice follows the log of the start.
  expect(output().indexOf(notice)).toBeGreaterThan(output().indexOf('crm is ready'));
  return launched;
};

const contacts = async (token?: string): Promise<[number, unknown]> => {
  const headers = { ...(token && { authorization: `Bearer ${token}` }) };
  const answer = await fetch(`${crmUrl}/api/crm/contacts`, { headers });
  return [answer.status, ((await answer.json()) as { meta?: { total: number } }).meta?.total];
};
const create = async (token?: string): Promise<number> => {
  const headers = {
    'content-type': 'application/json',
    ...(token && { authorization: `Bearer ${token}` }),
  };
  const body = JSON.stringify({ first_name: 'Ágnes' });
  return (await fetch(`${crmUrl}/api/crm/contacts`, { method: 'POST', headers, body })).status;
};

/** Uploads a document and creates a link to it; returns the status. */
const createLink = async (token: string): Promise<number> => {
  const headers = { authorization: `Bearer ${token}` };
  const body = new FormData();
  body.append('file', new Blob(['Notes']), 'notes.txt');
  const documents = `${crmUrl}/api/crm/documents`;
  const uploaded = await fetch(documents, { method: 'POST', headers, body });
  const { data } = (await uploaded.json()) as { data: { id: string } };
  const link = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' } };
  return (await fetch(`${documents}/${data.id}/links`, { ...link, body: '{}' })).status;
};

/** Creates an endpoint for webhooks on this machine; returns the status. */
const createWebhook = async (token: string): Promise<number> => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ url: 'http://127.0.0.1:4200/', event_types: ['*'] });
  const endpoints = `${crmUrl}/api/crm/webhook-endpoints`;
  return (await fetch(endpoints, { method: 'POST', headers, body })).status;
};

test('A service whose port is taken does not start, and says so before it starts PostgreSQL', async () => {
  const other = createServer().listen(Number(new URL(crmUrl).port), '127.0.0.1');
  await once(other, 'listening');
  try {
    for (const what of ['crm', 'crm:fake-auth']) {
      const { ended, output } = launch(what);
      expect(await ended).toBe(1);
      expect(output()).toBe(`Port ${new URL(crmUrl).port} is taken; set CRM_PORT to a free one.\n`);
    }
    expect(existsSync(path.join(directory, 'crm'))).toBe(false);
  } finally {
    other.close();
    await once(other, 'close');
  }
});

test(
  'CRM starts with an identity stub, prints how to get a token, and stops everything on Ctrl-C',
  async () => {
    const { child, ended, output } = await start('crm', 'curl -sS ');
    expect(output()).toContain(`curl -sS -X POST ${stubUrl}/oauth/token`);
    const granted = await fetch(`${stubUrl}/oauth/token`, { method: 'POST' });
    const { access_token: token } = (await granted.json()) as { access_token: string };
    expect(await create(token)).toBe(201);
    expect(await contacts(token)).toEqual([200, 1]);
    expect(await contacts()).toEqual([401, undefined]);
    expect(await contacts(`${token}x`)).toEqual([401, undefined]);
    expect(await createLink(token)).toBe(201);
    expect(await createWebhook(token)).toBe(201);
    child.kill('SIGINT');
    expect(await ended).toBe(0);
    expect(await nothingRuns()).toBe(true);

    // The same records, without a token and without a stub.
    const alone = await start('crm:fake-auth', 'curl -sS ', { CRM_FAKE_AUTH_IS_ADMIN: 'true' });
    expect(await contacts()).toEqual([200, 1]);
    expect(await create()).toBe(201);
    expect(await answers(stubUrl)).toBe(false);
    alone.child.kill('SIGTERM');
    expect(await alone.ended).toBe(0);
    expect(await nothingRuns()).toBe(true);
  },
  LIMIT_MS,
);

test(
  'CRM uses the identity at IDENTITY_URL without starting a stub, and leaves nothing running when it is killed',
  async () => {
    const { child, output } = await start('crm', 'CRM uses the identity', {
      IDENTITY_URL: 'http://127.0.0.1:1',
    });
    expect(output()).toContain('CRM uses the identity at http://127.0.0.1:1');
    expect(await answers(stubUrl)).toBe(false);
    expect(await contacts('opaque')).toEqual([503, undefined]);
    child.kill('SIGKILL');
    await until(nothingRuns);
  },
  LIMIT_MS,
);
