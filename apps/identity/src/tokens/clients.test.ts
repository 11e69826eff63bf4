import type { Tenant, User } from '../generated/prisma/client.ts';
import { CodeFlow, type TestClient } from '../testing/code-flow.ts';
import { startIdentity, type TestIdentity } from '../testing/identity.ts';
import { expectRefused, issue, present } from '../testing/tokens.ts';
import type { UserCaller } from './caller.ts';

let identity: TestIdentity;
let flow: CodeFlow;
let tenant: Tenant;
let other: Tenant;
let user: User;
beforeAll(async () => {
  identity = await startIdentity();
  flow = new CodeFlow(identity);
  tenant = await identity.people.tenant();
  other = await identity.people.tenant();
  user = await identity.people.user({ tenant, data: { isSystemAdmin: true } });
  await identity.people.join(user, other, await identity.people.role(other));
});
afterAll(() => identity.stop());

const tokenOf = (client: TestClient | undefined, tenantId: string | null = tenant.id) =>
  issue(identity, { userId: user.id, tenantId, ...(client && { clientId: client.clientId }) });

const callerOf = async (token: string): Promise<UserCaller | undefined> =>
  (await identity.context.authentication.inspect(token))?.caller;

describe('the kind of client that a token belongs to', () => {
  test('is first-party for a token that was issued without a client', async () => {
    expect(await callerOf(await tokenOf(undefined))).toMatchObject({ clientKind: 'first_party' });
  });

  test.each([
    ['first_party', () => flow.client()],
    ['tenant', () => flow.client({ tenantId: tenant.id })],
    ['third_party', () => flow.client({ isTrusted: false })],
    ['third_party', () => flow.client({ isTrusted: true, isFirstParty: false })],
  ] as const)('is %s by the settings of the client', async (clientKind, make) => {
    expect(await callerOf(await tokenOf(await make()))).toMatchObject({ clientKind });
  });

  test('determines whether a system administrator acts as one, and which tenants are shown', async () => {
    const first = await callerOf(await tokenOf(await flow.client()));
    expect([first?.isSystemAdmin, first?.tenants.length]).toEqual([true, 2]);
    for (const options of [{ tenantId: tenant.id }, { isTrusted: false }]) {
      const caller = await callerOf(await tokenOf(await flow.client(options)));
      expect(caller?.isSystemAdmin).toBe(false);
      expect(caller?.tenants.map(({ id }) => id)).toEqual([tenant.id]);
    }
  });

  test("a tenant's client grants neither administrator permissions nor access to other tenants", async () => {
    const token = await tokenOf(await flow.client({ tenantId: tenant.id }));
    const authorization = `Bearer ${token}`;
    const tenants = await identity.http.get('/api/tenants').set({ authorization });
    expect([tenants.status, tenants.body.error]).toEqual([403, 'permission_denied']);
    const named = { authorization, 'x-tenant': other.slug };
    const elsewhere = await identity.http.get('/api/user').set(named);
    expect([elsewhere.status, elsewhere.body.error]).toEqual([403, 'tenant_forbidden']);
  });
});

describe('a token admits nobody', () => {
  test.each([
    [
      'while its client is disabled',
      ({ clientId }: TestClient) =>
        identity.context.database.oAuthClient.update({
          where: { clientId },
          data: { disabledAt: new Date() },
        }),
    ],
    [
      'once its client is deleted',
      ({ clientId }: TestClient) =>
        identity.context.database.oAuthClient.delete({ where: { clientId } }),
    ],
  ])('%s', async (_when, change) => {
    const client = await flow.client();
    const token = await tokenOf(client);
    expect((await present(identity.http, token)).status).toBe(200);
    await change(client);
    await expectRefused(identity.http, token);
    const renewal = identity.http.post('/api/auth/refresh');
    expect((await renewal.set('authorization', `Bearer ${token}`)).status).toBe(401);
  });

  test("of another tenant than its client's, or of none", async () => {
    const client = await flow.client({ tenantId: tenant.id });
    expect((await present(identity.http, await tokenOf(client))).status).toBe(200);
    for (const elsewhere of [other.id, null]) {
      await expectRefused(identity.http, await tokenOf(client, elsewhere));
    }
  });
});
