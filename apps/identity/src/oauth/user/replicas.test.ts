import jwt from 'jsonwebtoken';
import { CodeFlow, type TestClient } from '../../testing/code-flow.ts';
import { identityDatabase, startIdentity, type TestIdentity } from '../../testing/identity.ts';
import { expectRefused, present } from '../../testing/tokens.ts';

let one: TestIdentity;
let other: TestIdentity;
let here: CodeFlow;
let there: CodeFlow;
let client: TestClient;
beforeAll(async () => {
  const environment = {
    DATABASE_URL: await identityDatabase(),
    KEY_ENCRYPTION_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}`,
  };
  [one, other] = [await startIdentity(environment), await startIdentity(environment)];
  [here, there] = [new CodeFlow(one), new CodeFlow(other)];
  client = await here.client();
});
afterAll(async () => {
  await one.stop();
  await other.stop();
});

describe('two replicas on one database', () => {
  test('share sessions, codes and refresh tokens', async () => {
    const cookie = await here.signIn(await one.people.user());
    const given = await there.code(client, cookie, { scope: 'openid api' });
    const { body } = await here.exchange(client, given);
    const renewed = await there.refresh(client, body.refresh_token);
    expect(renewed.status).toBe(200);
    expect((await present(one.http, renewed.body.access_token)).status).toBe(200);
  });

  test('share pending consent requests', async () => {
    const untrusted = await here.client({ isTrusted: false });
    const cookie = await here.signIn(await one.people.user());
    const query = here.query(untrusted, 'c'.repeat(43), { scope: 'openid' });
    const { headers } = await here.authorize(query, cookie);
    const uid = headers.location?.split('/').at(-1) ?? '';
    const origin = { ipAddress: null, userAgent: null };
    const secret = cookie.slice(cookie.indexOf('=') + 1);
    await other.context.authorizationServer.consents.accept(uid, secret, origin, null);
    expect(here.told(await here.authorize(query, cookie)).get('code')).toMatch(/\S/);
  });

  test('accept a code once, on any replica', async () => {
    const given = await here.code(client, await here.signIn(await one.people.user()));
    const answers = await Promise.all(
      [here, there, here, there].map((flow) => flow.exchange(client, given)),
    );
    const [winner, ...more] = answers.filter(({ status }) => status === 200);
    expect(more).toEqual([]);
    await expectRefused(other.http, winner?.body.access_token);
  });

  test('detect the reuse of a refresh token, on any replica', async () => {
    for (let round = 0; round < 5; round++) {
      const tokens = await here.tokens(client, await here.signIn(await one.people.user()));
      const answers = await Promise.all(
        [here, there].map((flow) => flow.refresh(client, tokens.refresh_token)),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
      const winner = answers.find(({ status }) => status === 200);
      await expectRefused(one.http, winner?.body.access_token);
    }
  });

  test("accept each other's tokens when the signing key changes", async () => {
    const cookie = await here.signIn(await one.people.user());
    const before = await here.tokens(client, cookie, { scope: 'openid api' });
    await one.context.keys.rotate();
    await one.context.database.signingKey.updateMany({
      where: { signsFrom: { gt: new Date() } },
      data: { signsFrom: new Date() },
    });
    const third = await startIdentity({
      DATABASE_URL: one.context.config.database.url,
      KEY_ENCRYPTION_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}`,
    });
    const elsewhere = new CodeFlow(third);
    const renewed = await elsewhere.refresh(client, before.refresh_token);
    expect(renewed.status).toBe(200);
    const keyOf = (token: string) => jwt.decode(token, { complete: true })?.header.kid;
    expect(keyOf(renewed.body.access_token)).not.toBe(keyOf(before.access_token));
    for (const { access_token } of [before, renewed.body]) {
      expect((await present(third.http, access_token)).status).toBe(200);
    }
    const hint = { id_token_hint: before.id_token ?? '', scope: 'openid' };
    expect((await elsewhere.code(client, cookie, hint)).code).toMatch(/\S/);
    await third.stop();
  });
});
