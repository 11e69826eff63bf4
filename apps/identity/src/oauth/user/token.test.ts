import { startAuthorization } from '../../testing/authorization.ts';
import { oauthRefusal } from '../../testing/code-flow.ts';
import { claimsOf, expectRefused, present } from '../../testing/tokens.ts';

const ORIGIN = 'https://panel.test';

const { identity, flow, client, user, cookie } = await startAuthorization({
  CORS_ORIGINS: ORIGIN,
});
const mobile = await flow.client({
  isPublic: true,
  redirectUris: ['test.tessera.mobile:/callback'],
});
afterAll(() => identity.stop());

const anything = expect.stringMatching(/\S/);
const bodyOf = (given: { code: string; verifier: string }, { redirectUri } = client) => ({
  grant_type: 'authorization_code',
  code: given.code,
  code_verifier: given.verifier,
  redirect_uri: redirectUri,
});

describe('the code and its code_verifier', () => {
  test('yield an access token and a refresh token, and nothing else without openid', async () => {
    const answer = await flow.exchange(client, await flow.code(client, cookie));
    expect(answer.status).toBe(200);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.body).toEqual({
      access_token: anything,
      token_type: 'Bearer',
      expires_in: 3600,
      refresh_token: expect.stringMatching(/^[\w-]{43}$/),
      scope: 'api',
    });
  });

  test('can be sent as JSON', async () => {
    const { clientId: client_id, secret: client_secret } = client;
    const body = { ...bodyOf(await flow.code(client, cookie)), client_id, client_secret };
    expect((await identity.http.post('/oauth/token').send(body)).status).toBe(200);
  });

  test('can be sent with HTTP Basic', async () => {
    const answer = await identity.http
      .post('/oauth/token')
      .auth(client.clientId, client.secret ?? '')
      .type('form')
      .send(bodyOf(await flow.code(client, cookie)));
    expect(answer.status).toBe(200);
  });

  test('are sufficient for a public client', async () => {
    expect((await flow.exchange(mobile, await flow.code(mobile, cookie))).status).toBe(200);
  });

  test('are valid for 60 seconds', async () => {
    const given = await flow.code(client, cookie);
    await identity.context.database.$executeRaw`
      UPDATE identity.oauth_artifacts
      SET payload = payload || jsonb_build_object('exp', extract(epoch FROM now())::bigint - 1)
      WHERE model = 'AuthorizationCode' AND client_id = ${client.clientId}`;
    const answer = await flow.exchange(client, given);
    expect([answer.status, answer.body]).toEqual([400, oauthRefusal('invalid_grant')]);
  });

  test.each<[string, Record<string, string | undefined>, error: string]>([
    ['a wrong code_verifier', { code_verifier: 'x'.repeat(43) }, 'invalid_grant'],
    ['no code_verifier', { code_verifier: undefined }, 'invalid_grant'],
    ['the challenge for a verifier', { code_verifier: 'short' }, 'invalid_request'],
    ['another redirect_uri', { redirect_uri: 'https://panel.test/other' }, 'invalid_grant'],
    ['no redirect_uri', { redirect_uri: undefined }, 'invalid_request'],
    ['an unknown code', { code: 'x'.repeat(43) }, 'invalid_grant'],
    ['no code', { code: undefined }, 'invalid_request'],
    ['NUL in the code', { code: '\u0000' }, 'invalid_grant'],
    ['another grant type', { grant_type: 'client_credentials' }, 'unsupported_grant_type'],
    ['the password grant', { grant_type: 'password' }, 'unsupported_grant_type'],
    ['no grant type', { grant_type: undefined }, 'invalid_request'],
  ])('with %s are rejected, and the code stays valid', async (_what, changes, error) => {
    for (const as of [client, mobile]) {
      const given = await flow.code(as, cookie);
      const answer = await flow.token(as, { ...bodyOf(given, as), ...changes });
      expect([answer.status, answer.body]).toEqual([400, oauthRefusal(error)]);
      expect((await flow.exchange(as, given)).status).toBe(200);
    }
  });

  test('of another client are rejected', async () => {
    const given = await flow.code(client, cookie);
    const other = await flow.client();
    const answer = await flow.exchange(other, given);
    expect([answer.status, answer.body.error]).toEqual([400, 'invalid_grant']);
  });
});

describe('a confidential client', () => {
  test.each<[string, string | undefined]>([
    ['a wrong secret', 'wrong'],
    ['no secret', undefined],
  ])('with %s is 401, and the code stays valid', async (_what, client_secret) => {
    const given = await flow.code(client, cookie);
    const { clientId: client_id } = client;
    const answer = await identity.http
      .post('/oauth/token')
      .send({ ...bodyOf(given), client_id, client_secret });
    expect([answer.status, answer.body]).toEqual([401, oauthRefusal('invalid_client')]);
    expect(answer.headers['www-authenticate']).toMatch(/^Basic realm=/);
    expect((await flow.exchange(client, given)).status).toBe(200);
  });

  test('that is unknown is 401', async () => {
    const nobody = { ...client, clientId: 'no\u0000body' };
    const answer = await flow.token(nobody, { grant_type: 'refresh_token', refresh_token: 'x' });
    expect([answer.status, answer.body]).toEqual([401, oauthRefusal('invalid_client')]);
  });

  test('for services is unknown here, and the other way round', async () => {
    const { clientId, secret } = await identity.people.application('*');
    const grant = { grant_type: 'client_credentials' };
    const here = await identity.http
      .post('/oauth/token')
      .send({ ...grant, client_id: clientId, client_secret: secret });
    const there = await identity.http
      .post('/api/oauth/token')
      .send({ ...grant, client_id: client.clientId, client_secret: client.secret });
    expect([here.status, there.status]).toEqual([401, 401]);
  });
});

describe('a code is valid once', () => {
  test('its replay is rejected and revokes the tokens that were issued for it', async () => {
    const given = await flow.code(client, cookie);
    const { body } = await flow.exchange(client, given);
    const bystander = await flow.tokens(client, cookie);
    expect((await present(identity.http, body.access_token)).status).toBe(200);
    const replay = await flow.exchange(client, given);
    expect([replay.status, replay.body]).toEqual([400, oauthRefusal('invalid_grant')]);
    await expectRefused(identity.http, body.access_token);
    expect((await flow.refresh(client, body.refresh_token)).status).toBe(400);
    expect((await present(identity.http, bystander.access_token)).status).toBe(200);
    const { jti } = claimsOf(body.access_token);
    const events = await identity.context.database.outboxEvent.findMany({
      where: {
        topic: 'identity.token.revoked',
        payload: { path: ['data', 'token_id'], equals: jti ?? '' },
      },
    });
    expect(events.map(({ payload }) => payload)).toMatchObject([
      { data: { user_id: user.id, reason: 'token_reused' } },
    ]);
  });

  test('one of ten concurrent requests succeeds, and its tokens are revoked', async () => {
    const given = await flow.code(client, cookie);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => flow.exchange(client, given)),
    );
    const given200 = answers.filter(({ status }) => status === 200);
    expect(given200).toHaveLength(1);
    await expectRefused(identity.http, given200[0]?.body.access_token);
    expect((await flow.refresh(client, given200[0]?.body.refresh_token)).status).toBe(400);
  });
});

describe('browsers', () => {
  const fromOrigin = async (origin: string) =>
    flow.exchange(mobile, await flow.code(mobile, cookie)).set({ origin });

  test('of configured origins may read the response', async () => {
    const answer = await fromOrigin(ORIGIN);
    expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([200, ORIGIN]);
    const preflight = await identity.http
      .options('/oauth/token')
      .set({ origin: ORIGIN, 'access-control-request-method': 'POST' });
    expect(preflight.headers['access-control-allow-origin']).toBe(ORIGIN);
  });

  test.each(['https://else.test', 'https://panel.test:444', 'http://panel.test', 'null'])(
    'of %s may not, whatever the client',
    async (origin) => {
      const answer = await fromOrigin(origin);
      expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
    },
  );
});

test('another method is 405, in both error formats', async () => {
  const answer = await identity.http.get('/oauth/token');
  expect([answer.status, answer.body]).toEqual([405, oauthRefusal('method_not_allowed')]);
});
