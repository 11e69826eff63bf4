import { spawn } from 'node:child_process';
import { createPublicKey, type JsonWebKey } from 'node:crypto';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { parsePolicies, parsePrincipal } from '@tessera/contracts';
import jwt from 'jsonwebtoken';
import { freePort } from '../free-port.ts';
import { type IdentityStub, startIdentityStub } from './stub.ts';

let stub: IdentityStub;
beforeAll(async () => {
  stub = await startIdentityStub(0);
});
afterAll(() => stub.stop());

const json = async <T>(path: string, init?: RequestInit, of: IdentityStub = stub): Promise<T> =>
  (await (await fetch(of.url + path, init)).json()) as T;
const keysOf = async (of: IdentityStub): Promise<JsonWebKey[]> =>
  (await json<{ keys: JsonWebKey[] }>('/.well-known/jwks.json', {}, of)).keys;

test('every caller is the same user of the tenant "local", in the form that services parse', async () => {
  for (const authorization of ['', 'Bearer anything']) {
    const principal = parsePrincipal(await json('/api/user', { headers: { authorization } }));
    expect(principal).toMatchObject({
      type: 'user',
      is_system_admin: false,
      tenants: [{ slug: 'local', is_active: true }],
    });
    expect(principal?.tenant_id).toBe(principal?.tenants[0]?.id);
  }
});

test('one policy allows every action; it has no version, which could become outdated', async () => {
  const policies = parsePolicies(await json('/api/policies'));
  expect(policies?.policies).toEqual([{ action: '*', effect: 'allow' }]);
  expect(policies?.version).toBeUndefined();
});

test('a token is valid for long, is signed with the published key, and belongs to the fixed user', async () => {
  const granted = await json<{ access_token: string; expires_in: number; token_type: string }>(
    '/oauth/token',
    { method: 'POST', body: new URLSearchParams({ grant_type: 'client_credentials' }) },
  );
  expect(granted).toMatchObject({ token_type: 'Bearer', expires_in: 31_536_000 });
  const [key] = await keysOf(stub);
  if (!key) throw new Error('The stub publishes no key.');
  const { header, payload } = jwt.verify(
    granted.access_token,
    createPublicKey({ key, format: 'jwk' }),
    { algorithms: ['ES256'], issuer: stub.url, complete: true },
  );
  expect(header).toMatchObject({ typ: 'at+jwt', kid: key.kid });
  expect(payload.sub).toBe(parsePrincipal(await json('/api/user'))?.id);
});

test('the key set is the same at every start and contains no private key', async () => {
  const other = await startIdentityStub(0);
  try {
    expect(await keysOf(other)).toEqual(await keysOf(stub));
    expect(Object.keys((await keysOf(stub))[0] ?? {})).not.toContain('d');
  } finally {
    await other.stop();
  }
});

test('a port in use is reported with the variable that changes it', async () => {
  const port = Number(new URL(stub.url).port);
  await expect(startIdentityStub(port)).rejects.toThrow(
    `Port ${port} is taken; set IDENTITY_STUB_PORT`,
  );
});

test('any other method or path is 404', async () => {
  for (const [method, path] of [
    ['POST', '/api/user'],
    ['GET', '/oauth/token'],
    ['GET', '/constructor'],
  ]) {
    const answer = await fetch(stub.url + path, { method: `${method}` });
    expect([path, answer.status]).toEqual([path, 404]);
  }
});

describe('as a separate program', () => {
  const run = async (environment: Record<string, string>) => {
    const child = spawn(
      process.execPath,
      [
        '--conditions=source',
        '--import',
        'tsx',
        fileURLToPath(new URL('main.ts', import.meta.url)),
      ],
      { env: { PATH: process.env.PATH, ...environment } },
    );
    const ended = once(child, 'exit').then(([code]) => code as number);
    return { child, ended };
  };

  test('it listens on loopback only, prints how to get a token, and ends on Ctrl-C', async () => {
    const port = await freePort();
    const { child, ended } = await run({ APP_ENV: 'local', IDENTITY_STUB_PORT: `${port}` });
    const [output] = await once(child.stdout.setEncoding('utf8'), 'data');
    expect(output).toContain(`curl -sS -X POST http://127.0.0.1:${port}/oauth/token`);
    expect((await fetch(`http://127.0.0.1:${port}/api/policies`)).status).toBe(200);
    await expect(fetch(`http://[::1]:${port}/api/policies`)).rejects.toThrow();
    child.kill('SIGINT');
    expect(await ended).toBe(0);
  });

  test.each(['IDENTITY_STUB_PORT', 'CRM_PORT'])(
    'it rejects a value of %s that is not a port',
    async (variable) => {
      const { child, ended } = await run({ APP_ENV: 'local', [variable]: '70000' });
      expect(await text(child.stderr)).toContain(`${variable} is not a port number: 70000`);
      expect(await ended).toBe(1);
    },
  );

  test.each(['', 'production', 'test'])('it does not start if APP_ENV is "%s"', async (APP_ENV) => {
    const { child, ended } = await run({ APP_ENV, IDENTITY_STUB_PORT: '0' });
    expect(await text(child.stderr)).toContain('APP_ENV is "local"');
    expect(await ended).toBe(1);
  });
});
