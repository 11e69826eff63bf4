import type { User } from '../generated/prisma/client.ts';
import { CodeFlow } from '../testing/code-flow.ts';
import { commandsOf } from '../testing/commands.ts';
import { startIdentity, type TestIdentity } from '../testing/identity.ts';
import { bearerOf } from '../testing/sessions.ts';
import { expectRefused, present } from '../testing/tokens.ts';

let identity: TestIdentity;
let flow: CodeFlow;
let victim: User;
beforeAll(async () => {
  identity = await startIdentity();
  flow = new CodeFlow(identity);
  victim = await identity.people.user({ tenant: await identity.people.tenant() });
});
afterAll(() => identity.stop());

/** An administrator who uses a client, and all tokens that can be derived from its token. */
const someone = async () => {
  const { people, http } = identity;
  const client = await flow.client();
  const [home, target] = [await people.tenant(), await people.tenant()];
  const user = await people.user({ tenant: home, data: { isSystemAdmin: true } });
  await people.join(user, target, await people.role(target));
  const cookie = await flow.signIn(user);
  const post = (path: string, token: string, body: object) =>
    http.post(path).set(bearerOf(token)).send(body).expect(200);
  const impersonate = async (token: string): Promise<string> => {
    const path = `/api/admin/users/${victim.id}/impersonate`;
    return (await post(path, token, { reason: 'Ticket 42' })).body.data.token;
  };
  const [plain, switching] = [await flow.tokens(client, cookie), await flow.tokens(client, cookie)];
  const { body } = await post('/api/auth/switch-tenant', switching.access_token, {
    tenant_id: target.id,
  });
  const renewed = (await flow.refresh(client, plain.refresh_token).expect(200)).body;
  return {
    client,
    cookie,
    tokens: {
      plain: plain.access_token,
      renewed: renewed.access_token,
      switched: body.data.token as string,
      impersonating: await impersonate(renewed.access_token),
      impersonatingFromSwitched: await impersonate(body.data.token),
    },
    refreshTokens: [renewed.refresh_token as string, body.data.refresh_token as string],
  };
};

describe('a derived token', () => {
  test.each([
    ['disable-client', []],
    ['delete-client', []],
    ['rotate-secret', ['--overlap', '0', '--revoke-tokens']],
  ])('keeps its client, and ends by %s', async (command, options) => {
    const { client, tokens, refreshTokens } = await someone();
    const bystander = await someone();
    for (const token of Object.values(tokens)) {
      expect((await present(identity.http, token)).status).toBe(200);
    }
    const done = await commandsOf(identity)(command, client.clientId, ...options);
    for (const token of Object.values(tokens)) await expectRefused(identity.http, token);
    const where = { clientId: client.clientId, revokedAt: null };
    expect(await identity.context.database.token.count({ where })).toBe(0);
    const secret = done.client_secret ?? client.secret;
    for (const refreshToken of refreshTokens) {
      const { status } = await flow.refresh({ ...client, secret }, refreshToken);
      expect([400, 401]).toContain(status);
    }
    for (const token of Object.values(bystander.tokens)) {
      expect((await present(identity.http, token)).status).toBe(200);
    }
  });

  test('ends with the session of the first one', async () => {
    const { tokens, client, refreshTokens } = await someone();
    await identity.http.post('/api/auth/logout').set(bearerOf(tokens.renewed)).expect(200);
    for (const token of Object.values(tokens)) await expectRefused(identity.http, token);
    for (const refreshToken of refreshTokens) {
      expect((await flow.refresh(client, refreshToken)).status).toBe(400);
    }
  });
});
