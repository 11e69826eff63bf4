import { startAuthorization } from '../../testing/authorization.ts';
import { type Fields, pageOf, pkce } from '../../testing/code-flow.ts';
import { claimsOf } from '../../testing/tokens.ts';

const { identity, flow, client, user, cookie, challenge, ask, askAnonymously } =
  await startAuthorization();
afterAll(() => identity.stop());

describe('prompt and max_age', () => {
  const followed = async (returnTo: URL, browser: string) =>
    identity.http
      .get(returnTo.pathname + returnTo.search)
      .set('cookie', browser)
      .redirects(0);

  test.each<Fields>([
    { prompt: 'login' },
    { prompt: 'login consent' },
    { max_age: '0', scope: 'openid' },
    { max_age: '1', scope: 'openid', prompt: 'login' },
  ])('%j returns a code only after a new authentication', async (changes) => {
    const { page, returnTo } = pageOf(await ask(changes));
    expect(page).toBe('https://identity.test/sign-in');
    const unchanged = pageOf(await followed(returnTo, cookie));
    expect([unchanged.page, unchanged.returnTo.href]).toEqual([page, returnTo.href]);
    const back = await followed(returnTo, await flow.signIn(user));
    expect(flow.told(back).get('code')).toMatch(/\S/);
  });

  test('prompt=login returns an ID token with the new auth_time', async () => {
    const { verifier, challenge: own } = pkce();
    const query = flow.query(client, own, { prompt: 'login', scope: 'openid' });
    const { returnTo } = pageOf(await flow.authorize(query, cookie));
    const before = Math.floor(Date.now() / 1000);
    const back = await followed(returnTo, await flow.signIn(user));
    const code = flow.told(back).get('code') ?? '';
    const { body } = await flow.exchange(client, { code, verifier });
    expect(claimsOf(body.id_token)).toMatchObject({ auth_time: expect.any(Number) });
    const { auth_time } = claimsOf(body.id_token) as unknown as { auth_time: number };
    expect(auth_time).toBeGreaterThanOrEqual(before);
  });

  test('prompt=login asks signed-out users only once', async () => {
    const { returnTo } = pageOf(await askAnonymously({ prompt: 'login' }));
    const back = await followed(returnTo, await flow.signIn(user));
    expect(flow.told(back).get('code')).toMatch(/\S/);
  });

  test('max_age leads to the login page once the sign-in is older', async () => {
    const late = await identity.people.user();
    const signedIn = await flow.signIn(late);
    const query = flow.query(client, challenge, { max_age: '60', scope: 'openid' });
    expect(flow.told(await flow.authorize(query, signedIn)).get('code')).toMatch(/\S/);
    await identity.context.database.session.updateMany({
      where: { userId: late.id },
      data: { authenticatedAt: new Date(Date.now() - 120_000) },
    });
    expect(pageOf(await flow.authorize(query, signedIn)).returnTo.search).toContain('max_age=60');
  });

  test('prompt=none returns login_required instead of a code', async () => {
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
  ])('%j returns invalid_request', async (changes) => {
    expect(flow.told(await ask(changes)).get('error')).toBe('invalid_request');
  });
});

describe('prompt=select_account', () => {
  test('shows the account selection, and returns without a loop', async () => {
    const { page, returnTo } = pageOf(await ask({ prompt: 'select_account' }));
    expect(page).toBe('https://identity.test/select-account');
    expect(Object.fromEntries(returnTo.searchParams)).toEqual(flow.query(client, challenge));
    const back = await identity.http
      .get(returnTo.pathname + returnTo.search)
      .set('cookie', cookie)
      .redirects(0);
    expect(flow.told(back).get('code')).toMatch(/\S/);
  });

  test('shows the sign-in if nobody is signed in', async () => {
    const { page, returnTo } = pageOf(await askAnonymously({ prompt: 'select_account' }));
    expect(page).toBe('https://identity.test/sign-in');
    expect(returnTo.searchParams.has('prompt')).toBe(false);
  });
});

describe('prompt=create', () => {
  test('leads to the sign-in if registration is disabled', async () => {
    const { page, returnTo } = pageOf(await askAnonymously({ prompt: 'create' }));
    expect(page).toBe('https://identity.test/sign-in');
    expect(returnTo.searchParams.has('prompt')).toBe(false);
  });

  test('leads to the registration if it is enabled, and discovery announces it', async () => {
    const open = await startAuthorization({ REGISTRATION_ENABLED: 'true' });
    const supported = async (of: typeof identity): Promise<string[]> =>
      (await of.http.get('/.well-known/openid-configuration')).body.prompt_values_supported;
    try {
      const { page } = pageOf(await open.askAnonymously({ prompt: 'create' }));
      expect(page).toBe('https://identity.test/register');
      expect(await supported(open.identity)).toEqual([
        'none',
        'login',
        'consent',
        'select_account',
        'create',
      ]);
      expect(await supported(identity)).toEqual(['none', 'login', 'consent', 'select_account']);
    } finally {
      await open.identity.stop();
    }
  });
});

describe('a restricted session', () => {
  const restrictionPages = async (data: { pinPending: true } | { forcePasswordChange: true }) => {
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
    const { page, returnTo } = await restrictionPages({ pinPending: true });
    expect(page).toBe('https://identity.test/pin');
    expect(Object.fromEntries(returnTo.searchParams)).toEqual(flow.query(client, challenge));
  });

  test('is sent to change the password before any code', async () => {
    const { page } = await restrictionPages({ forcePasswordChange: true });
    expect(page).toBe('https://identity.test/password/change');
  });
});
