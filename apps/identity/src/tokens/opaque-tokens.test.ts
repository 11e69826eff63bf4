import { hash, randomBytes } from 'node:crypto';
import { startIdentity, type TestIdentity } from '../testing/identity.ts';
import { expectRefused, present } from '../testing/tokens.ts';

let identity: TestIdentity;
beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity.stop());

describe('an opaque token', () => {
  const scope = 'identity.tenants.list';
  const who = (token: string) =>
    identity.http.get('/api/user').set('authorization', `Bearer ${token}`);

  test('authenticates its client, with its scopes', async () => {
    const { token, clientId } = await identity.people.application(
      'identity.tenants.list tenant.*.crm.*.view',
    );
    const { status, body } = await who(token);
    expect(status).toBe(200);
    expect(body.data).toEqual({
      id: clientId,
      type: 'client',
      email: null,
      name: 'Pipeline',
      tenant_id: null,
      is_system_admin: false,
      is_service_account: false,
      tenants: [],
      scopes: ['identity.tenants.list', 'tenant.*.crm.*.view'],
      client_id: clientId,
      token_id: hash('sha256', token, 'hex'),
      policies_version: null,
      expires_at: expect.stringMatching(/Z$/),
    });
  });

  test('is rejected if it is expired, unknown or deleted, or its application was deleted', async () => {
    const { token: expired, clientId: whose } = await identity.people.application(scope);
    await identity.context.database.oAuthArtifact.updateMany({
      where: { clientId: whose },
      data: { expiresAt: new Date() },
    });
    await expectRefused(identity.http, expired);
    await expectRefused(identity.http, randomBytes(48).toString('base64url'));
    const { token, clientId } = await identity.people.application(scope);
    expect((await who(token)).status).toBe(200);
    const { database } = identity.context;
    await database.systemApplication.delete({ where: { clientId } });
    await expectRefused(identity.http, token);
    const other = await identity.people.application(scope);
    await database.oAuthArtifact.deleteMany({ where: { clientId: other.clientId } });
    await expectRefused(identity.http, other.token);
  });

  test('of another kind is rejected: a grant or a session of the provider', async () => {
    const { token, clientId } = await identity.people.application(scope);
    await identity.context.database.oAuthArtifact.updateMany({
      where: { clientId },
      data: { model: 'AccessToken' },
    });
    await expectRefused(identity.http, token);
  });

  test('has no account', async () => {
    const { token } = await identity.people.application(scope);
    const answer = await present(identity.http, token);
    expect([answer.status, answer.body.error]).toEqual([403, 'permission_denied']);
  });
});
