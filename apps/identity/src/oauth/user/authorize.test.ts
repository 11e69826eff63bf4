import type { User } from '../../generated/prisma/client.ts';
import { CodeFlow, pkce, type TestClient } from '../../testing/code-flow.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import { issue } from '../../testing/tokens.ts';

let identity: TestIdentity;
let flow: CodeFlow;
let client: TestClient;
let user: User;
let cookie: string;
beforeAll(async () => {
  identity = await startIdentity();
  flow = new CodeFlow(identity);
  client = await flow.client();
  user = await identity.people.user({ tenant: await identity.people.tenant() });
  cookie = await flow.signIn(user);
});
afterAll(() => identity.stop());

type Fields = Record<string, string | undefined>;

const { challenge } = pkce();
const ask = (changes: Fields = {}, as = client) =>
  flow.authorize(flow.query(as, challenge, changes), cookie);
const askAnonymously = (changes: Fields = {}) =>
  flow.authorize(flow.query(client, challenge, changes));

const anything = expect.stringMatching(/\S/);
/** A refusal that both kinds of client can read. */
const refused = (error: string) => ({
  ...{ success: false, error, error_description: anything, message: anything },
});

/** A direct answer, from which the browser goes nowhere. */
const expectDirect = (answer: Awaited<ReturnType<typeof ask>>, error = 'invalid_request') => {
  expect([answer.status, answer.body]).toEqual([400, refused(error)]);
  expect(answer.headers).not.toHaveProperty('location');
};

/** The page that the browser is sent to, and where that one is to send it back. */
const pageOf = ({ status, headers }: Awaited<ReturnType<typeof ask>>) => {
  expect(status).toBe(302);
  const page = new URL(headers.location ?? '');
  const returnTo = new URL(page.searchParams.get('return_to') ?? '');
  return { page: page.origin + page.pathname, returnTo };
};

describe('without a session', () => {
  test('the service answers 302 to the login page, which can send the browser back', async () => {
    const { page, returnTo } = pageOf(await askAnonymously({ state: 'a b&c' }));
    expect(page).toBe('https://identity.test/sign-in');
    const asked = flow.query(client, challenge, { state: 'a b&c' });
    expect(returnTo.origin + returnTo.pathname).toBe('https://identity.test/oauth/authorize');
    expect(Object.fromEntries(returnTo.searchParams)).toEqual(asked);
  });

  test('the frontend login page is the one of the configuration', async () => {
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
    ['a cookie that is none', 'session=nonsense; __Host-session=nonsense'],
    ['an empty cookie', '__Host-session='],
  ])('%s counts as none, and is left alone', async (_what, stale) => {
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

  test('a bearer token is none: also an impersonator’s stays outside', async () => {
    for (const use of ['login', 'impersonation'] as const) {
      const token = await issue(identity, { userId: user.id, use });
      const answer = await askAnonymously().set('authorization', `Bearer ${token}`);
      expect(pageOf(answer).page).toBe('https://identity.test/sign-in');
    }
  });

  test('a session that was ended, or whose user is inactive, is none', async () => {
    const gone = await identity.people.user();
    const signedIn = await flow.signIn(gone);
    const where = { where: { id: gone.id } };
    await identity.context.database.user.update({ ...where, data: { isActive: false } });
    const answer = await flow.authorize(flow.query(client, challenge), signedIn);
    expect(pageOf(answer).page).toBe('https://identity.test/sign-in');
  });

  test('the Host header has no part in the addresses', async () => {
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

  test('the session’s cookie stays as it was set by the sign-in', async () => {
    expect((await ask()).headers).not.toHaveProperty('set-cookie');
  });

  test('a trusted client is not asked about either when it says prompt=consent', async () => {
    expect(flow.told(await ask({ prompt: 'consent' })).get('code')).toMatch(/\S/);
  });

  test('the scope is optional, and scopes that nobody knows are left out', async () => {
    const { scope } = await flow.tokens(client, cookie, { scope: 'openid surprise' });
    expect(scope).toBe('openid api');
    expect((await flow.tokens(client, cookie)).scope).toBe('api');
  });

  test('parameters that nobody knows have no effect', async () => {
    const answer = await ask({ audience: 'x', resource: 'https://else.test', dpop_jkt: 'y' });
    expect(flow.told(answer).get('code')).toMatch(/\S/);
  });
});

describe('PKCE is required of every client', () => {
  test.each<[string, Fields]>([
    ['code_challenge_method other than S256', { code_challenge_method: 'S512' }],
    ['code_challenge_method plain', { code_challenge_method: 'plain' }],
    ['code_challenge_method missing', { code_challenge_method: undefined }],
    ['code_challenge missing', { code_challenge: undefined }],
    ['both missing', { code_challenge: undefined, code_challenge_method: undefined }],
    ['a code_challenge that is too short', { code_challenge: 'short' }],
    ['a code_challenge of other characters', { code_challenge: `${'ä'.repeat(43)}` }],
  ])('%s is 400, without a redirect', async (_what, changes) => {
    const clients = [client, await flow.client({ isPublic: true })];
    for (const as of clients) expectDirect(await ask(changes, as));
    expectDirect(await askAnonymously(changes));
  });
});

describe('the request of a confidential client', () => {
  test('with a client_secret in the query is 400', async () => {
    expectDirect(await ask({ client_secret: client.secret ?? '' }));
    expectDirect(await askAnonymously({ client_secret: '' }));
  });
});

describe('redirect_uri must equal the registered URI exactly', () => {
  const registered = 'http://127.0.0.1:3000/callback';
  test.each([
    'http://127.0.0.1:3001/callback',
    'http://127.0.0.1/callback',
    'http://localhost:3000/callback',
    'http://127.0.0.1:3000/callback/',
    'http://127.0.0.1:3000/callback?x=1',
    'http://127.0.0.1:3000/Callback',
    'http://127.0.0.1:3000/callback#x',
    'http://user@127.0.0.1:3000/callback',
    'http://127.0.0.1:3000/*',
    'https://evil.test/',
    'javascript:alert(1)',
    'no address',
  ])('%s is 400, without a redirect', async (redirect_uri) => {
    for (const isPublic of [true, false]) {
      const as = await flow.client({ isPublic, redirectUris: [registered] });
      expectDirect(await ask({ redirect_uri }, as), 'invalid_redirect_uri');
      expect(flow.told(await ask({}, as)).get('code')).toMatch(/\S/);
    }
  });

  test('a missing one is 400, though the client has only one', async () => {
    expectDirect(await ask({ redirect_uri: undefined }));
  });

  test('an address of the client’s own scheme is as good as any that is registered', async () => {
    const redirectUris = ['test.tessera.mobile:/callback', 'http://[::1]:9/callback'];
    const mobile = await flow.client({ isPublic: true, redirectUris });
    for (const redirect_uri of redirectUris) {
      const { headers } = await ask({ redirect_uri }, mobile);
      expect(headers.location?.split('?')[0]).toBe(redirect_uri);
    }
  });
});

describe('the client', () => {
  test.each([undefined, 'nobody', 'no\u00e9body'])('%s is 400', async (client_id) => {
    const answer = await ask({ client_id });
    expect([answer.status, answer.body.success]).toEqual([400, false]);
    expect(answer.headers).not.toHaveProperty('location');
  });

  test('of services takes no part', async () => {
    const { clientId } = await identity.people.application('identity.tenants.list');
    expectDirect(await ask({ client_id: clientId }), 'invalid_client');
  });

  test('without an address to return to cannot take part yet', async () => {
    const as = await flow.client({ redirectUris: [] });
    expectDirect(await ask({ redirect_uri: 'https://panel.test/callback' }, as), 'invalid_client');
  });
});

describe('the implicit grant is disabled', () => {
  test.each(['token', 'id_token', 'id_token token', 'code token', 'code id_token', 'none', 'x'])(
    'response_type=%s tells the client unsupported_response_type',
    async (response_type) => {
      const answer = await ask({ response_type, scope: 'openid', nonce: 'n' });
      expect(answer.status).toBe(302);
      const told = flow.told(answer);
      expect([told.get('error'), told.get('iss')]).toEqual([
        'unsupported_response_type',
        'https://identity.test',
      ]);
      expect(answer.headers.location).not.toMatch(/code=|access_token=|id_token=/);
    },
  );

  test.each(['form_post', 'fragment', 'jwt', 'x'])(
    'a code in another way than the query (response_mode=%s) is 400',
    async (response_mode) => {
      expectDirect(await ask({ response_mode }));
    },
  );
});

describe('a hint to skip consent', () => {
  test.each<Fields>([
    { approve: 'true' },
    { approved: '1' },
    { consent: 'skip' },
    { skip_consent: 'true' },
    { prompt: 'none', approve: '1' },
  ])('%j has no effect', async (hint) => {
    const untrusted = await flow.client({ isTrusted: false });
    const answer = await ask(hint, untrusted);
    expect(answer.headers.location).not.toContain('code=');
    if (!hint.prompt) expect(answer.headers.location).toContain('/consent/');
    else expect(flow.told(answer).get('error')).toBe('consent_required');
  });
});

describe('prompt and max_age', () => {
  test.each<[Fields, Fields]>([
    [{ prompt: 'login' }, {}],
    [{ prompt: 'login consent' }, { prompt: 'consent' }],
    [{ max_age: '0', scope: 'openid' }, { scope: 'openid' }],
  ])('%j leads to the login page, and back without a loop', async (changes, left) => {
    const { page, returnTo } = pageOf(await ask(changes));
    expect(page).toBe('https://identity.test/sign-in');
    expect(Object.fromEntries(returnTo.searchParams)).toEqual(flow.query(client, challenge, left));
    const back = await identity.http
      .get(returnTo.pathname + returnTo.search)
      .set('cookie', await flow.signIn(user))
      .redirects(0);
    expect(flow.told(back).get('code')).toMatch(/\S/);
  });

  test('max_age leads to the login page once the sign-in is older', async () => {
    const late = await identity.people.user();
    const signedIn = await flow.signIn(late);
    const query = flow.query(client, challenge, { max_age: '60', scope: 'openid' });
    expect(flow.told(await flow.authorize(query, signedIn)).get('code')).toMatch(/\S/);
    await identity.context.database.session.updateMany({
      where: { userId: late.id },
      data: { createdAt: new Date(Date.now() - 120_000) },
    });
    expect(pageOf(await flow.authorize(query, signedIn)).returnTo.search).toContain('max_age=60');
  });

  test('prompt=none tells the client login_required, where a code was to be had', async () => {
    const answer = await askAnonymously({ prompt: 'none', state: 's' });
    expect(answer.status).toBe(302);
    expect(Object.fromEntries(flow.told(answer))).toMatchObject({
      error: 'login_required',
      state: 's',
      iss: 'https://identity.test',
    });
    expect(flow.told(await ask({ prompt: 'none' })).get('code')).toMatch(/\S/);
  });

  test('an id_token_hint of another user leads to the login page', async () => {
    const { id_token = '' } = await flow.tokens(client, cookie, { scope: 'openid' });
    const asked = { id_token_hint: id_token, scope: 'openid', prompt: 'none' };
    expect(flow.told(await ask(asked)).get('code')).toMatch(/\S/);
    const other = await flow.signIn(await identity.people.user());
    const answer = await flow.authorize(flow.query(client, challenge, asked), other);
    expect(flow.told(answer).get('error')).toBe('login_required');
  });

  test.each<Fields>([
    { prompt: 'x' },
    { prompt: 'none login' },
    { max_age: '-1', scope: 'openid' },
  ])('%j tells the client invalid_request', async (changes) => {
    expect(flow.told(await ask(changes)).get('error')).toBe('invalid_request');
  });
});

describe('a session with something left to do', () => {
  const unfinished = async (data: { pinPending: true } | { forcePasswordChange: true }) => {
    const person = await identity.people.user();
    const signedIn = await flow.signIn(person);
    const { database } = identity.context;
    if ('pinPending' in data)
      await database.session.updateMany({ where: { userId: person.id }, data });
    else await database.user.update({ where: { id: person.id }, data });
    const grants = await database.oAuthArtifact.count();
    const answers = [
      await flow.authorize(flow.query(client, challenge), signedIn),
      await flow.authorize(flow.query(client, challenge, { prompt: 'none' }), signedIn),
    ] as const;
    expect(await database.oAuthArtifact.count()).toBe(grants);
    expect(flow.told(answers[1]).get('error')).toBe('interaction_required');
    return pageOf(answers[0]);
  };

  test('is sent to the PIN page before any code', async () => {
    const { page, returnTo } = await unfinished({ pinPending: true });
    expect(page).toBe('https://identity.test/pin');
    expect(Object.fromEntries(returnTo.searchParams)).toEqual(flow.query(client, challenge));
  });

  test('is sent to change the password before any code', async () => {
    const { page } = await unfinished({ forcePasswordChange: true });
    expect(page).toBe('https://identity.test/password/change');
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

  test('is that of the client where it belongs to a tenant', async () => {
    const [home, away] = [await identity.people.tenant(), await identity.people.tenant()];
    const member = await identity.people.user({ tenant: home });
    await identity.people.join(member, away, await identity.people.role(away));
    const panel = await flow.client({ tenantId: away.id });
    const signedIn = await flow.signIn(member);
    expect(await tenantIn(panel, signedIn)).toBe(away.id);
    expect(await tenantIn(client, signedIn)).toBe(home.id);
  });

  test('of which the user is no member gives the client access_denied', async () => {
    const { id: tenantId } = await identity.people.tenant();
    const answer = await ask({}, await flow.client({ tenantId }));
    expect(flow.told(answer).get('error')).toBe('access_denied');
  });
});

describe('whatever is sent', () => {
  test.each<Fields>([
    { state: 'a\u0000b' },
    { nonce: '\u0000', scope: 'openid' },
    { scope: 'open\u0007id' },
    { request: 'a.b.c' },
    { request_uri: 'https://evil.test/request' },
    { registration: '{}' },
    { id_token_hint: 'a.b.c', scope: 'openid' },
    { scope: '"' },
    { state: '☃'.repeat(30) },
    { login_hint: 'a@b.test' },
  ])('%j is no error of ours', async (changes) => {
    for (const answer of [await ask(changes), await askAnonymously(changes)]) {
      expect([302, 400]).toContain(answer.status);
    }
  });

  test('a repeated parameter is refused', async () => {
    const query = new URLSearchParams(flow.query(client, challenge) as Record<string, string>);
    for (const name of ['state', 'scope', 'redirect_uri', 'client_id', 'code_challenge_method']) {
      const { status, headers } = await identity.http
        .get(`/oauth/authorize?${query}&${name}=a&${name}=b`)
        .set('cookie', cookie)
        .redirects(0);
      expect([name, [302, 400].includes(status)]).toEqual([name, true]);
      expect(headers.location ?? '').not.toContain('code=');
    }
  });

  test('broken percent signs are no error of ours', async () => {
    const { status } = await identity.http.get('/oauth/authorize?client_id=%ff&state=%');
    expect(status).toBe(400);
  });

  test('another method is 405 and says which one is right', async () => {
    const answer = await identity.http.post('/oauth/authorize').send({});
    expect([answer.status, answer.body]).toEqual([405, refused('method_not_allowed')]);
    expect(answer.headers.allow).toContain('GET');
  });
});
