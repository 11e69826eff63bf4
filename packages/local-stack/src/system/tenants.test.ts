import { createHash, randomBytes } from 'node:crypto';
import { DeploymentAutomationStandIn } from '../deployment-automation/stand-in.ts';
import { type ApiResponse, call, callUntil, signIn } from './people.ts';
import { startTestStack, type TestStack } from './test-stack.ts';

let automation: DeploymentAutomationStandIn;
let stack: TestStack;

beforeAll(async () => {
  automation = await new DeploymentAutomationStandIn().start();
  stack = await startTestStack({
    environmentOf: { identity: automation.environment },
  });
}, 120_000);
afterAll(async () => {
  await stack?.remove();
  await automation?.stop();
}, 30_000);

type Options = Parameters<typeof call>[2];
const identity = (method: string, at: string, options?: Options): Promise<ApiResponse> =>
  call(method, stack.identity.url + at, options);
const contacts = (method: string, options: Options): Promise<ApiResponse> =>
  call(method, `${stack.crm.url}/api/crm/contacts`, options);

const refusal = ({ status, body }: ApiResponse): [number, unknown] => [
  status,
  (body as unknown as { error?: unknown }).error,
];

const systemToken = async (scope?: string): Promise<ApiResponse> => {
  const { client_id, client_secret } = stack.system.system_application;
  const fields = { grant_type: 'client_credentials', client_id, client_secret };
  return identity('POST', '/api/oauth/token', { body: { ...fields, ...(scope && { scope }) } });
};

describe('a suspended tenant', () => {
  const inAcme = { 'x-tenant': 'acme' };

  /** An API key of a service account, created by the owner. */
  const apiKey = async (owner: string): Promise<string> => {
    const accounts = `/api/tenants/${stack.system.owner.tenant_id}/service-accounts`;
    const body = { name: 'Importer', role: 'member' };
    const account = await identity('POST', accounts, { token: owner, body });
    const keys = `${accounts}/${account.body.data.id}/api-keys`;
    const made = await identity('POST', keys, { token: owner, body: { name: 'Nightly' } });
    expect([made.status, made.text]).toEqual([201, expect.any(String)]);
    return (made.body.data as unknown as { key: string }).key;
  };

  /** The owner's token for the tenant's own client, from the code flow. */
  const clientToken = async (): Promise<string> => {
    const { email, password } = stack.system.owner;
    const signedIn = await identity('POST', '/api/auth/login', { body: { email, password } });
    const cookie = signedIn.headers
      .getSetCookie()
      .map((one) => one.split(';')[0])
      .join('; ');
    const { client_id, client_secret, redirect_uris } = stack.system.clients.tenant;
    const verifier = randomBytes(32).toString('base64url');
    const named = { client_id, redirect_uri: redirect_uris[0] ?? '' };
    const query = new URLSearchParams({
      response_type: 'code',
      code_challenge_method: 'S256',
      ...named,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    });
    const address = `${stack.identity.url}/oauth/authorize?${query}`;
    const back = await fetch(address, { headers: { cookie }, redirect: 'manual' });
    const code = new URL(back.headers.get('location') ?? '').searchParams.get('code') ?? '';
    const granted = await identity('POST', '/oauth/token', {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        code,
        code_verifier: verifier,
        ...named,
        client_secret: client_secret ?? '',
      }),
    });
    expect([granted.status, granted.text]).toEqual([200, expect.any(String)]);
    return granted.body.access_token;
  };

  test('rejects users, keys, clients and administrators until it is active again: at identity immediately, at CRM with the event', async () => {
    const owner = await signIn(stack, 'owner');
    const administrator = await signIn(stack, 'administrator');
    const other = await signIn(stack, 'other_owner');
    const { tenant_id } = stack.system.owner;
    const members = `/api/tenants/${tenant_id}/members`;
    const callers = {
      user: { token: owner, at: members },
      "user of the tenant's client": { token: await clientToken(), at: members },
      key: { token: await apiKey(owner), at: '/api/user' },
      'system application': { token: (await systemToken()).body.access_token, headers: inAcme },
      administrator: { token: administrator, headers: inAcme },
    };
    type Caller = { token: string; at?: string; headers?: Record<string, string> };
    // The last two belong to the platform; only CRM checks the tenant's status for them.
    const all: [string, Caller][] = Object.entries(callers);
    const move = (name: 'suspend' | 'activate') =>
      identity('POST', `/api/tenants/${tenant_id}/${name}`, { token: administrator });
    const atIdentity = async (): Promise<unknown[]> => {
      const seen: unknown[] = [];
      for (const [name, { at, ...options }] of all) {
        if (at !== undefined) seen.push([name, ...refusal(await identity('GET', at, options))]);
      }
      return seen;
    };
    const expectEverywhere = async (expected: [number, unknown]): Promise<void> => {
      const bound = all.filter(([, { at }]) => at !== undefined);
      expect(await atIdentity()).toEqual(bound.map(([name]) => [name, ...expected]));
    };
    /** Waits until CRM responds to all callers with this status, and logs how long that took. */
    const reached = async (moved: string, expected: [number, unknown]): Promise<void> => {
      const since = performance.now();
      const took = await Promise.all(
        all.map(async ([name, { token, headers }]) => {
          await callUntil(
            () => contacts('GET', { token, ...(headers && { headers }) }),
            (answer) => String(refusal(answer)) === String(expected),
          );
          return `${name} ${Math.round(performance.now() - since)} ms`;
        }),
      );
      console.info(`CRM applied the change after ${moved}: ${took.join(', ')}`);
    };

    // All callers are cached when the event arrives.
    await reached('nothing', [200, undefined]);
    await expectEverywhere([200, undefined]);

    expect((await move('suspend')).status).toBe(200);
    const closed = reached('suspend', [403, 'tenant_suspended']);
    await expectEverywhere([403, 'tenant_suspended']);
    await closed;
    // Nobody was signed out, and other tenants are not affected.
    expect((await identity('GET', '/api/me', { token: owner })).status).toBe(200);
    expect(await signIn(stack, 'owner')).toEqual(expect.any(String));
    expect((await contacts('GET', { token: other })).status).toBe(200);

    expect((await move('activate')).status).toBe(200);
    const open = reached('activate', [200, undefined]);
    await expectEverywhere([200, undefined]);
    await open;
  });
});

describe('a CI pipeline', () => {
  test('sets the versions of a tenant, gets the pull request, reads from CRM, and is refused outside its scopes', async () => {
    const scope = 'identity.tenants.versions.update tenant.acme.crm.contacts.list';
    const granted = await systemToken(scope);
    expect([granted.status, granted.body]).toEqual([
      200,
      { access_token: expect.any(String), token_type: 'Bearer', expires_in: 3600, scope },
    ]);
    const token = granted.body.access_token;
    const { tenant_id } = stack.system.owner;

    const link = 'https://github.com/example/deployments/pull/42';
    const body = { versions: { api: '1.4.2', worker: '1.4.2' }, prUrl: link };
    const changed = await identity('PUT', `/api/tenants/${tenant_id}/versions`, { token, body });
    expect([changed.status, changed.body.data]).toEqual([
      200,
      expect.objectContaining({ id: tenant_id, versions: body.versions, pr_url: link }),
    ]);
    expect(automation.callsOf('setVersions').map((made) => [made.tenantId, made.body])).toEqual([
      [tenant_id, { versions: body.versions, prUrl: link }],
    ]);

    const headers = { 'x-tenant': 'acme' };
    expect((await contacts('GET', { token, headers })).status).toBe(200);

    const outside = await Promise.all([
      identity('GET', '/api/tenants', { token }),
      identity('POST', `/api/tenants/${tenant_id}/suspend`, { token }),
      contacts('POST', { token, headers, body: { first_name: 'No' } }),
      contacts('GET', { token, headers: { 'x-tenant': 'globex' } }),
      contacts('GET', { token }),
      systemToken('identity.tenants.delete'),
    ]);
    expect(outside.map(refusal)).toEqual([
      [403, 'permission_denied'],
      [403, 'permission_denied'],
      [403, 'service_account_scope_denied'],
      [403, 'tenant_forbidden'],
      [403, 'tenant_forbidden'],
      [400, 'invalid_scope'],
    ]);
  });
});
