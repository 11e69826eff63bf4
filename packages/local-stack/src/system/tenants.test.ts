import { DeploymentAutomationStandIn } from '../deployment-automation/stand-in.ts';
import { bodyOf, crmClient, identityClient, statusAndError } from './clients.ts';
import { signIn } from './people.ts';
import { callUntil } from './requests.ts';
import { startTestStack, type TestStack } from './test-stack.ts';
import { requestSystemToken, systemToken, userToken } from './tokens.ts';

let automation: DeploymentAutomationStandIn;
let stack: TestStack;

beforeAll(async () => {
  automation = await new DeploymentAutomationStandIn().start();
  stack = await startTestStack({
    environmentOf: { identity: automation.environment },
  });
});
afterAll(async () => {
  await stack?.remove();
  await automation?.stop();
});

const listContacts = (token: string, tenant?: string) =>
  crmClient(stack, token, tenant).GET('/api/crm/contacts');

describe('a suspended tenant', () => {
  /** An API key of a service account, created by the owner. */
  const apiKey = async (owner: string): Promise<string> => {
    const identity = identityClient(stack, owner);
    const { tenant_id: tenantId } = stack.system.owner;
    const account = await identity.POST('/api/tenants/{tenantId}/service-accounts', {
      params: { path: { tenantId } },
      body: { name: 'Importer', role: 'member' },
    });
    const { id: userId } = bodyOf(account, 201).data;
    const made = await identity.POST('/api/tenants/{tenantId}/service-accounts/{userId}/api-keys', {
      params: { path: { tenantId, userId } },
      body: { name: 'Nightly' },
    });
    return bodyOf(made, 201).data.key;
  };

  test('rejects users, keys, clients and administrators until it is active again: at identity immediately, at CRM with the event', async () => {
    const owner = await signIn(stack, 'owner');
    const administrator = await signIn(stack, 'administrator');
    const other = await signIn(stack, 'other_owner');
    const { tenant_id: tenantId } = stack.system.owner;
    const params = { path: { tenantId } };
    const members = (token: string) =>
      identityClient(stack, token).GET('/api/tenants/{tenantId}/members', { params });
    const user = (token: string) => identityClient(stack, token).GET('/api/user');
    type Caller = { token: string; atIdentity?: typeof members | typeof user; tenant?: string };
    const callers: Record<string, Caller> = {
      user: { token: owner, atIdentity: members },
      "user of the tenant's client": {
        token: await userToken(stack, 'owner', 'tenant'),
        atIdentity: members,
      },
      key: { token: await apiKey(owner), atIdentity: user },
      // These two belong to the platform; only CRM checks the tenant's status for them.
      'system application': { token: await systemToken(stack), tenant: 'acme' },
      administrator: { token: administrator, tenant: 'acme' },
    };
    const all = Object.entries(callers);
    const move = (name: 'suspend' | 'activate') =>
      identityClient(stack, administrator).POST(`/api/tenants/{tenantId}/${name}`, { params });
    const seenAtIdentity = async (): Promise<unknown[]> => {
      const seen: unknown[] = [];
      for (const [name, { token, atIdentity }] of all) {
        if (atIdentity) seen.push([name, ...statusAndError(await atIdentity(token))]);
      }
      return seen;
    };
    const expectEverywhere = async (expected: [number, unknown]): Promise<void> => {
      const bound = all.filter(([, { atIdentity }]) => atIdentity !== undefined);
      expect(await seenAtIdentity()).toEqual(bound.map(([name]) => [name, ...expected]));
    };
    /** Waits until CRM responds to all callers with this status, and logs how long that took. */
    const reached = async (moved: string, expected: [number, unknown]): Promise<void> => {
      const since = performance.now();
      const took = await Promise.all(
        all.map(async ([name, { token, tenant }]) => {
          await callUntil(
            () => listContacts(token, tenant),
            (answer) => String(statusAndError(answer)) === String(expected),
          );
          return `${name} ${Math.round(performance.now() - since)} ms`;
        }),
      );
      console.info(`CRM applied the change after ${moved}: ${took.join(', ')}`);
    };

    // All callers are cached when the event arrives.
    await reached('nothing', [200, undefined]);
    await expectEverywhere([200, undefined]);

    expect((await move('suspend')).response.status).toBe(200);
    const closed = reached('suspend', [403, 'tenant_suspended']);
    await expectEverywhere([403, 'tenant_suspended']);
    await closed;
    // Nobody was signed out, and other tenants are not affected.
    expect((await identityClient(stack, owner).GET('/api/me')).response.status).toBe(200);
    expect(await signIn(stack, 'owner')).toEqual(expect.any(String));
    expect((await listContacts(other)).response.status).toBe(200);

    expect((await move('activate')).response.status).toBe(200);
    const open = reached('activate', [200, undefined]);
    await expectEverywhere([200, undefined]);
    await open;
  });
});

describe('a CI pipeline', () => {
  test('sets the versions of a tenant, gets the pull request, reads from CRM, and is refused outside its scopes', async () => {
    const scope = 'identity.tenants.versions.update tenant.acme.crm.contacts.list';
    const granted = bodyOf(await requestSystemToken(stack, scope));
    const { access_token: token } = granted;
    expect(granted).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 3600,
      scope,
    });
    const identity = identityClient(stack, token);
    const { tenant_id: tenantId } = stack.system.owner;
    const params = { path: { tenantId } };

    const link = 'https://github.com/example/deployments/pull/42';
    const body = { versions: { api: '1.4.2', worker: '1.4.2' }, prUrl: link };
    const changed = await identity.PUT('/api/tenants/{tenantId}/versions', { params, body });
    expect(bodyOf(changed).data).toEqual(
      expect.objectContaining({ id: tenantId, versions: body.versions, pr_url: link }),
    );
    expect(automation.callsOf('setVersions').map((made) => [made.tenantId, made.body])).toEqual([
      [tenantId, { versions: body.versions, prUrl: link }],
    ]);

    expect((await listContacts(token, 'acme')).response.status).toBe(200);

    const outside = await Promise.all([
      identity.GET('/api/tenants'),
      identity.POST('/api/tenants/{tenantId}/suspend', { params }),
      crmClient(stack, token, 'acme').POST('/api/crm/contacts', { body: { first_name: 'No' } }),
      listContacts(token, 'globex'),
      listContacts(token),
      requestSystemToken(stack, 'identity.tenants.delete'),
    ]);
    expect(outside.map(statusAndError)).toEqual([
      [403, 'permission_denied'],
      [403, 'permission_denied'],
      [403, 'service_account_scope_denied'],
      [403, 'tenant_forbidden'],
      [403, 'tenant_forbidden'],
      [400, 'invalid_scope'],
    ]);
  });
});
