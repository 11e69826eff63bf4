import { startAuthorization } from '../../testing/authorization.ts';
import { CodeFlow, pageOf, type TestClient } from '../../testing/code-flow.ts';
import { startIdentity } from '../../testing/identity.ts';
import { issue } from '../../testing/tokens.ts';

const { identity, flow, client, user, cookie, challenge, ask, askAnonymously } =
  await startAuthorization();
afterAll(() => identity.stop());

describe('without a session', () => {
  test('the response is a 302 to the login page, which can send the browser back', async () => {
    const { page, returnTo } = pageOf(await askAnonymously({ state: 'a b&c' }));
    expect(page).toBe('https://identity.test/sign-in');
    const asked = flow.query(client, challenge, { state: 'a b&c' });
    expect(returnTo.origin + returnTo.pathname).toBe('https://identity.test/oauth/authorize');
    expect(Object.fromEntries(returnTo.searchParams)).toEqual(asked);
  });

  test('the login page of the frontend can be configured', async () => {
    const own = await startIdentity({
      FRONTEND_LOGIN_URL: 'https://app.test/login?theme=dark',
      DATABASE_URL: identity.context.config.database.url,
      KEY_ENCRYPTION_KEYS: identity.context.config.keyEncryptionKeys
        .map(({ id, secret }) => `${id}:${secret.toString('base64')}`)
        .join(),
    });
    const answer = await new CodeFlow(own).authorize(flow.query(client, challenge));
    await own.stop();
    expect(answer.headers.location).toMatch(
      /^https:\/\/app\.test\/login\?theme=dark&return_to=http/,
    );
  });

  test.each([
    ['an invalid cookie', 'session=nonsense; __Host-session=nonsense'],
    ['an empty cookie', '__Host-session='],
  ])('%s counts as no session and is not changed', async (_what, stale) => {
    const answer = await flow.authorize(flow.query(client, challenge), stale);
    expect(pageOf(answer).page).toBe('https://identity.test/sign-in');
    expect(answer.headers).not.toHaveProperty('set-cookie');
  });

  test('nothing is written', async () => {
    const { database } = identity.context;
    const count = async () => [
      await database.oAuthArtifact.count(),
      await database.session.count(),
    ];
    const before = await count();
    await askAnonymously();
    await flow.authorize(flow.query(client, challenge), '__Host-session=nonsense');
    expect(await count()).toEqual(before);
  });

  test('a bearer token does not count as a session, not even an impersonator’s', async () => {
    for (const use of ['login', 'impersonation'] as const) {
      const token = await issue(identity, { userId: user.id, use });
      const answer = await askAnonymously().set('authorization', `Bearer ${token}`);
      expect(pageOf(answer).page).toBe('https://identity.test/sign-in');
    }
  });

  test('an ended session, or one of an inactive user, does not count', async () => {
    const gone = await identity.people.user();
    const signedIn = await flow.signIn(gone);
    const where = { where: { id: gone.id } };
    await identity.context.database.user.update({ ...where, data: { isActive: false } });
    const answer = await flow.authorize(flow.query(client, challenge), signedIn);
    expect(pageOf(answer).page).toBe('https://identity.test/sign-in');
  });

  test('the Host header does not affect the URLs', async () => {
    const answer = await askAnonymously()
      .set('host', 'evil.test')
      .set('x-forwarded-host', 'evil.test');
    expect(answer.headers.location).not.toContain('evil');
  });
});

describe('with a session', () => {
  test('a trusted client is approved without a consent screen: 302 to its address with a code', async () => {
    const answer = await ask({ state: 'opaque state' });
    expect(answer.status).toBe(302);
    expect(answer.headers.location).toMatch(/^https:\/\/panel\.test\/callback\?/);
    expect(Object.fromEntries(flow.told(answer))).toEqual({
      code: expect.stringMatching(/^[\w-]{43}$/),
      state: 'opaque state',
      iss: 'https://identity.test',
    });
    expect(answer.text).toBe('');
    expect(answer.headers['cache-control']).toBe('no-store');
  });

  test('the session’s cookie is not changed', async () => {
    expect((await ask()).headers).not.toHaveProperty('set-cookie');
  });

  test('a trusted client needs no consent even with prompt=consent', async () => {
    expect(flow.told(await ask({ prompt: 'consent' })).get('code')).toMatch(/\S/);
  });

  test('the scope is optional', async () => {
    expect((await flow.tokens(client, cookie)).scope).toBe('api');
  });

  test('unknown parameters have no effect', async () => {
    const answer = await ask({ audience: 'x', resource: 'https://else.test', dpop_jkt: 'y' });
    expect(flow.told(answer).get('code')).toMatch(/\S/);
  });
});

describe('the tenant of the tokens', () => {
  const tenantIn = async (as: TestClient, who: string): Promise<string | null> => {
    const { access_token } = await flow.tokens(as, who);
    const { body } = await identity.http
      .get('/api/user')
      .set('authorization', `Bearer ${access_token}`);
    return body.data.tenant_id;
  };

  test('is the user’s default one', async () => {
    expect(await tenantIn(client, cookie)).toBe(user.tenantId);
    const loner = await flow.signIn(await identity.people.user());
    expect(await tenantIn(client, loner)).toBeNull();
  });

  test('is that of the client if it belongs to a tenant', async () => {
    const [home, away] = [await identity.people.tenant(), await identity.people.tenant()];
    const member = await identity.people.user({ tenant: home });
    await identity.people.join(member, away, await identity.people.role(away));
    const panel = await flow.client({ tenantId: away.id });
    const signedIn = await flow.signIn(member);
    expect(await tenantIn(panel, signedIn)).toBe(away.id);
    expect(await tenantIn(client, signedIn)).toBe(home.id);
  });

  test('redirects with access_denied if the user is not a member', async () => {
    const { id: tenantId } = await identity.people.tenant();
    const answer = await ask({}, await flow.client({ tenantId }));
    expect(flow.told(answer).get('error')).toBe('access_denied');
  });
});
