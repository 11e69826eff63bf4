import type { User } from '../generated/prisma/client.ts';
import { CodeFlow, type TokenAnswer } from '../testing/code-flow.ts';
import { commandsOf } from '../testing/commands.ts';
import { startIdentity, type TestIdentity } from '../testing/identity.ts';
import { bearerOf } from '../testing/sessions.ts';
import { claimsOf } from '../testing/tokens.ts';

const ISSUER = 'https://identity.test';

let identity: TestIdentity;
let user: User;
let clientId: string;
let tokens: TokenAnswer;
let resourceServer: { client_id: string; client_secret: string };
beforeAll(async () => {
  identity = await startIdentity();
  const run = commandsOf(identity);
  resourceServer = await run(
    'create-system-application',
    'reports',
    'tenant.*.crm.contacts.view',
    '--name',
    'Reports',
    '--resource-server',
  );
});
afterAll(() => identity.stop());
beforeEach(async () => {
  const flow = new CodeFlow(identity);
  user = await identity.people.user({ tenant: await identity.people.tenant() });
  const client = await flow.client();
  clientId = client.clientId;
  tokens = await flow.tokens(client, await flow.signIn(user), { scope: 'openid api' });
});

const introspect = async (token: string, as = resourceServer): Promise<object> => {
  const { client_id, client_secret } = as;
  const answer = await identity.http
    .post('/api/oauth/introspect')
    .send({ token, client_id, client_secret })
    .expect(200);
  return answer.body;
};

const inactive = { active: false };

describe('introspection by a resource server', () => {
  test("describes a user's token as RFC 7662 and RFC 9068 specify", async () => {
    const { access_token } = tokens;
    const { jti, iat, exp, sid } = claimsOf(access_token);
    expect(await introspect(access_token)).toEqual({
      active: true,
      iss: ISSUER,
      aud: ISSUER,
      sub: user.id,
      username: user.email,
      client_id: clientId,
      tenant_id: user.tenantId,
      token_type: 'Bearer',
      scope: 'api',
      jti,
      iat,
      exp,
      sid,
    });
  });

  test('contains the scopes of an API key, and the impersonator', async () => {
    const tenant = await identity.people.tenant();
    const owner = await identity.people.caller(tenant, '*');
    const path = `/api/tenants/${tenant.id}/service-accounts`;
    const account = await identity.http
      .post(path)
      .set(owner)
      .send({ name: 'Robot', role: 'viewer' })
      .expect(201);
    const scopes = ['identity.members.list', 'tenant.*.crm.contacts.view'];
    const key = await identity.http
      .post(`${path}/${account.body.data.id}/api-keys`)
      .set(owner)
      .send({ name: 'Key', scopes })
      .expect(201);
    expect(await introspect(key.body.data.key)).toMatchObject({
      active: true,
      sub: account.body.data.id,
      scope: scopes.join(' '),
    });
    const chief = await identity.people.user({ data: { isSystemAdmin: true } });
    const acting = await identity.http
      .post(`/api/admin/users/${user.id}/impersonate`)
      .set(await identity.people.signIn(chief))
      .send({ reason: 'Ticket 42' })
      .expect(200);
    expect(await introspect(acting.body.data.token)).toMatchObject({
      active: true,
      sub: user.id,
      act: { sub: chief.id },
    });
    await identity.context.database.tenant.update({
      where: { id: tenant.id },
      data: { status: 'suspended' },
    });
    expect(await introspect(key.body.data.key)).toEqual(inactive);
  });

  test('reports expired and revoked tokens as inactive', async () => {
    await identity.http.post('/api/auth/logout').set(bearerOf(tokens.access_token)).expect(200);
    expect(await introspect(tokens.access_token)).toEqual(inactive);
  });

  test('reports ID tokens, refresh tokens and pending sign-ins as inactive', async () => {
    for (const token of [tokens.id_token ?? '', tokens.refresh_token, 'a.b.c']) {
      expect(await introspect(token)).toEqual(inactive);
    }
    const bearer = await identity.people.signIn(user);
    await identity.people.setPin(bearer, '192837');
    const waiting = await identity.people.signIn(user);
    expect(await introspect(waiting.authorization.slice('Bearer '.length))).toEqual(inactive);
  });
});

test('other system applications get no information about tokens of users', async () => {
  const other = await identity.people.application('*');
  const as = { client_id: other.clientId, client_secret: other.secret };
  expect(await introspect(tokens.access_token, as)).toEqual(inactive);
  expect(await introspect(other.token, as)).toMatchObject({ active: true });
  expect(await introspect(other.token)).toEqual(inactive);
});
