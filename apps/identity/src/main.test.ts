import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { createLogger } from '@tessera/http-kit';
import { freePort, type ServiceProcess, spawnService } from '@tessera/local-stack';
import bcrypt from 'bcrypt';
import { createDatabase } from './database.ts';
import { identityDatabase, testEnvironment } from './testing/identity.ts';
import { PASSWORD } from './testing/population.ts';

const running: ServiceProcess[] = [];
const start = async (environment: Record<string, string> = {}) => {
  const made = spawnService('identity', {
    ...testEnvironment(await identityDatabase()),
    LOG_LEVEL: 'trace',
    ...environment,
  });
  running.push(made);
  return made;
};
afterEach(async () => {
  for (const { child, ended } of running.splice(0)) {
    child.kill('SIGKILL');
    await ended;
  }
});

test('the log of a sign-in contains no secrets and no email addresses, whatever happens', async () => {
  const databaseUrl = await identityDatabase();
  const email = 'ada.lovelace@example.test';
  const logger = createLogger('test', 'silent');
  const { database, pool } = createDatabase({ url: databaseUrl, poolSize: 1 }, logger);
  const passwordHash = await bcrypt.hash(PASSWORD, 4);
  await database.user.create({
    data: { email, firstName: 'Ada', lastName: 'Lovelace', passwordHash },
  });
  await database.$disconnect();
  await pool.end();

  const identity = await start({ DATABASE_URL: databaseUrl });
  const url = await identity.ready();
  const login = (body: string) =>
    fetch(`${url}/api/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-request-id': 'request-7' },
      body,
    });
  const answer = await login(JSON.stringify({ email, password: PASSWORD }));
  const { data } = (await answer.json()) as { data: { token: string } };
  const [cookie = ''] = answer.headers.getSetCookie();
  const authorization = `Bearer ${data.token}`;
  await login(JSON.stringify({ email, password: `${PASSWORD}-wrong` }));
  await login(`{"password": "${PASSWORD}"`);
  await login(JSON.stringify({ email, password: [PASSWORD] }));
  await fetch(`${url}/api/me?token=${data.token}`, { headers: { authorization, cookie } });
  await fetch(`${url}/api/user`, { headers: { authorization } });
  await fetch(`${url}/api/auth/logout`, { method: 'POST', headers: { authorization, cookie } });
  await fetch(`${url}/api/user`, { headers: { authorization } });
  identity.child.kill('SIGTERM');
  await identity.ended;

  const log = identity.logs();
  expect(log).toContain('request-7');
  expect(log.match(/"operation":"\w+"/g)).toEqual(
    [...Array(4).fill('login'), 'getMe', 'getUser', 'logout', 'getUser'].map(
      (operation) => `"operation":"${operation}"`,
    ),
  );
  const secret = /session=([^;]+)/.exec(cookie)?.[1] ?? '';
  expect(secret).toHaveLength(43);
  for (const hidden of [PASSWORD, data.token, data.token.split('.')[2], secret, email]) {
    expect(log.includes(`${hidden}`)).toBe(false);
  }
});

test('on SIGTERM it completes running requests, accepts no new ones, and exits with 0', async () => {
  const identity = await start({ BCRYPT_COST: '12' });
  const url = await identity.ready();
  const under = fetch(`${url}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'nobody@example.test', password: 'wrong' }),
  });
  await fetch(`${url}/livez`);
  identity.child.kill('SIGTERM');
  expect((await under).status).toBe(401);
  expect(await identity.ended).toBe(0);
  await expect(fetch(`${url}/livez`)).rejects.toThrow();
});

test('if the port is in use, it exits with 1 and a line that names the port and its variable', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  try {
    const identity = await start({ PORT: `${port}` });
    expect(await identity.ended).toBe(1);
    expect(identity.logs()).toContain(`Port ${port} is taken; set IDENTITY_PORT to a free one.`);
  } finally {
    taken.close();
  }
});

test('with an invalid configuration, it exits with 1, names every variable and shows no value', async () => {
  const identity = await start({
    ISSUER: 'not-a-url',
    KEY_ENCRYPTION_KEYS: 'hunter2',
    WORKERS: '0',
  });
  expect(await identity.ended).toBe(1);
  for (const name of ['ISSUER', 'KEY_ENCRYPTION_KEYS', 'WORKERS']) {
    expect(identity.logs()).toContain(name);
  }
  expect(identity.logs()).not.toContain('hunter2');
});

test('it prints only log lines, one of which warns about an unsupported Node release', async () => {
  const identity = await start({ LOG_LEVEL: 'info' });
  const url = await identity.ready();
  await fetch(`${url}/.well-known/openid-configuration`);
  identity.child.kill('SIGTERM');
  await identity.ended;
  const messages = identity
    .logs()
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { msg: string }).msg);
  const notice = `supports Node 22 LTS and later LTS releases, and this is ${process.version}`;
  const isSupported = (process.release.lts ?? '') >= 'Jod';
  expect(messages.filter((message) => message.includes(notice))).toHaveLength(isSupported ? 0 : 1);
});

test('metrics have a separate port', async () => {
  const port = await freePort();
  const identity = await start({ METRICS_PORT: `${port}` });
  const url = await identity.ready();
  await fetch(`${url}/api/health`);
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  expect(metrics).toContain('operation="getHealth"');
  expect((await fetch(`${url}/metrics`)).status).toBe(404);
});
