import type { User } from '../generated/prisma/client.ts';
import { CodeFlow, pageOf, pkce } from '../testing/code-flow.ts';
import { cookieValueOf } from '../testing/cookies.ts';
import { startIdentity, type TestIdentity } from '../testing/identity.ts';
import type { Bearer } from '../testing/population.ts';
import { refresh } from '../testing/sessions.ts';
import { stepsOf } from '../testing/sign-in.ts';

const IDLE = 600;

let identity: TestIdentity;
let user: User;
beforeAll(async () => {
  identity = await startIdentity({ IDLE_SIGN_OUT_SECONDS: `${IDLE}` });
});
afterAll(() => identity.stop());
beforeEach(async () => {
  user = await identity.people.user({ tenant: await identity.people.tenant() });
});

interface SignedIn {
  readonly bearer: Bearer;
  readonly cookie: string;
}

const signIn = async (remember = false): Promise<SignedIn> => {
  const steps = stepsOf(identity);
  const answer = await steps.login(user, {}, { remember });
  const cookie = `__Host-session=${cookieValueOf(answer, '__Host-session')}`;
  return { bearer: steps.bearerOf(answer), cookie };
};

const sessions = () => identity.context.database.session;
/** Simulates inactivity in the user's sessions. */
const rest = (seconds: number) =>
  sessions().updateMany({
    where: { userId: user.id },
    data: { lastActiveAt: new Date(Date.now() - seconds * 1000) },
  });
const idleFor = async (): Promise<number> => {
  const session = await sessions().findFirstOrThrow({ where: { userId: user.id } });
  return (Date.now() - +session.lastActiveAt) / 1000;
};
const written = () => identity.context.sessionUses.flush();

const isSignedIn = async (cookie: string): Promise<boolean> =>
  (await identity.http.get('/account').set('cookie', cookie).redirects(0)).status === 200;
const me = async (bearer: Bearer) => (await identity.http.get('/api/me').set(bearer)).status;
const state = async (cookie: string) =>
  (await identity.http.get('/session').set('cookie', cookie)).body;

describe('an inactive session', () => {
  test('has ended for its browser, without scripts, while its apps continue', async () => {
    const { bearer, cookie } = await signIn();
    await rest(IDLE + 120);
    expect(await isSignedIn(cookie)).toBe(false);
    expect(await state(cookie)).toEqual({ signed_in: false, seconds_left: null });
    expect(await me(bearer)).toBe(200);
  });

  test('yields no code: the browser must sign in', async () => {
    const flow = new CodeFlow(identity);
    const client = await flow.client();
    const { cookie } = await signIn();
    await rest(IDLE + 120);
    const answer = await flow.authorize(flow.query(client, pkce().challenge), cookie);
    expect(pageOf(answer).page).toBe('https://identity.test/sign-in');
  });

  test('stays ended for its browser when an app of it is used later', async () => {
    const { bearer, cookie } = await signIn();
    await rest(IDLE + 120);
    expect(await me(bearer)).toBe(200);
    await written();
    expect(await isSignedIn(cookie)).toBe(false);
  });

  test('continues with "remember me"', async () => {
    const { cookie } = await signIn(true);
    await rest(30 * 86_400);
    expect(await isSignedIn(cookie)).toBe(true);
    expect(await state(cookie)).toEqual({ signed_in: true, seconds_left: null });
  });
});

describe('activity is', () => {
  test('the use of a token of the session, and all uses are written together later', async () => {
    const { bearer, cookie } = await signIn();
    await rest(IDLE - 60);
    expect(await me(bearer)).toBe(200);
    expect(await idleFor()).toBeGreaterThan(IDLE - 61);
    await written();
    expect(await idleFor()).toBeLessThan(60);
    expect(await isSignedIn(cookie)).toBe(true);
  });

  test('the renewal of a token', async () => {
    const { bearer } = await signIn();
    await rest(IDLE - 60);
    await refresh(identity, bearer.authorization.slice('Bearer '.length)).expect(200);
    await written();
    expect(await idleFor()).toBeLessThan(60);
  });

  test('a refresh token of an app', async () => {
    const flow = new CodeFlow(identity);
    const client = await flow.client();
    const { cookie } = await signIn();
    const { refresh_token } = await flow.tokens(client, cookie);
    await written();
    await rest(IDLE - 60);
    await flow.refresh(client, refresh_token).expect(200);
    await written();
    expect(await idleFor()).toBeLessThan(60);
  });

  test('opening a page, and activity on an open page', async () => {
    const { cookie } = await signIn();
    await rest(IDLE - 60);
    expect(await isSignedIn(cookie)).toBe(true);
    await written();
    expect(await idleFor()).toBeLessThan(60);
    await rest(IDLE - 60);
    const answer = await identity.http
      .post('/session')
      .set({ cookie, 'sec-fetch-site': 'same-origin' });
    expect(answer.body.signed_in).toBe(true);
    expect(answer.body.seconds_left).toBeGreaterThanOrEqual(IDLE);
    await written();
    expect(await idleFor()).toBeLessThan(60);
  });

  test('neither a request for the remaining time nor a request from another site', async () => {
    const { cookie } = await signIn();
    await written();
    await rest(IDLE - 60);
    const { signed_in, seconds_left } = await state(cookie);
    expect([signed_in, seconds_left > 0, seconds_left < 180]).toEqual([true, true, true]);
    const foreign = await identity.http
      .post('/session')
      .set({ cookie, 'sec-fetch-site': 'cross-site' });
    expect(foreign.status).toBe(403);
    await written();
    expect(await idleFor()).toBeGreaterThan(IDLE - 61);
  });

  test('not what an impersonating administrator does', async () => {
    const { cookie } = await signIn();
    const admin = await identity.people.signIn(
      await identity.people.user({ data: { isSystemAdmin: true } }),
    );
    const { body } = await identity.http
      .post(`/api/admin/users/${user.id}/impersonate`)
      .set(admin)
      .send({ reason: 'Ticket 42' });
    await rest(IDLE + 120);
    await me({ authorization: `Bearer ${body.data.token}` });
    await written();
    expect(await isSignedIn(cookie)).toBe(false);
  });
});
