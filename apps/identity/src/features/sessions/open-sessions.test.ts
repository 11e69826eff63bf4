import { randomBytes } from 'node:crypto';
import type { User } from '../../generated/prisma/client.ts';
import { CodeFlow } from '../../testing/code-flow.ts';
import { cookieValueOf } from '../../testing/cookies.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import { city, type PlaceFile, placeDatabase, placeFile } from '../../testing/place-database.ts';
import type { Bearer } from '../../testing/population.ts';
import { activityOf, bearerOf, publishedEventsOf } from '../../testing/sessions.ts';
import { stepsOf } from '../../testing/sign-in.ts';
import { expectRefused } from '../../testing/tokens.ts';
import { MAX_OPEN_SESSIONS } from '../sign-in/superfluous-sessions.ts';

let identity: TestIdentity;
let flow: CodeFlow;
let file: PlaceFile;
let user: User;
beforeAll(async () => {
  file = await placeFile(placeDatabase({ '203.0.113.0/24': city('AT', { en: 'Vienna' }) }));
  identity = await startIdentity({ GEOIP_DATABASE: file.path, TRUSTED_PROXIES: '1' });
  flow = new CodeFlow(identity);
});
afterAll(async () => {
  await identity.stop();
  await file.remove();
});
beforeEach(async () => {
  user = await identity.people.user({ tenant: await identity.people.tenant() });
});

interface SignedIn {
  readonly bearer: Bearer;
  readonly token: string;
  readonly cookie: string;
}

const signIn = async (headers: Record<string, string> = {}, who = user): Promise<SignedIn> => {
  const answer = await stepsOf(identity).login(who, headers);
  const cookie = `__Host-session=${cookieValueOf(answer, '__Host-session')}`;
  const { token } = answer.body.data;
  return { bearer: bearerOf(token), token, cookie };
};

const list = async (bearer: Bearer): Promise<Record<string, unknown>[]> => {
  const { status, body } = await identity.http.get('/api/sessions').set(bearer);
  expect(status).toBe(200);
  return body.data;
};
const end = (bearer: Bearer, id: unknown) =>
  identity.http.delete(`/api/sessions/${id}`).set(bearer);
const endOthers = (bearer: Bearer) => identity.http.post('/api/auth/logout-others').set(bearer);
const me = async (bearer: Bearer) => (await identity.http.get('/api/me').set(bearer)).status;

describe('the sessions of a user', () => {
  test('are listed with location, applications and the current one, most recently used first', async () => {
    const elsewhere = await signIn({ 'x-forwarded-for': '203.0.113.7', 'user-agent': 'curl/8' });
    await flow.tokens(await flow.client(), elsewhere.cookie);
    const here = await signIn();
    const listed = await list(here.bearer);
    expect(listed).toEqual([
      expect.objectContaining({ is_current: true, ip_address: '127.0.0.1', country: null }),
      {
        id: expect.any(String),
        device_id: expect.any(String),
        ip_address: '203.0.113.7',
        country: 'AT',
        city: 'Vienna',
        user_agent: 'curl/8',
        is_remembered: false,
        is_current: false,
        applications: ['Panel'],
        created_at: expect.any(String),
        last_active_at: expect.any(String),
        expires_at: expect.any(String),
      },
    ]);
  });

  test('are no longer listed once they have ended or expired', async () => {
    const [gone, expired, here] = [await signIn(), await signIn(), await signIn()];
    await identity.http.post('/api/auth/logout').set(gone.bearer);
    const { id } = (await list(expired.bearer)).find(({ is_current }) => is_current) ?? {};
    await identity.context.database.session.update({
      where: { id: String(id) },
      data: { expiresAt: new Date(0) },
    });
    expect(await list(here.bearer)).toHaveLength(1);
  });

  test('show when a remembered one was last used', async () => {
    const answer = await stepsOf(identity).login(user, {}, { remember: true });
    const bearer = stepsOf(identity).bearerOf(answer);
    const { database, sessionUses } = identity.context;
    const before = new Date(Date.now() - 86_400_000);
    await database.session.updateMany({
      where: { userId: user.id },
      data: { lastActiveAt: before },
    });
    await database.token.updateMany({ where: { userId: user.id }, data: { createdAt: before } });
    expect(await me(bearer)).toBe(200);
    await sessionUses.flush();
    const [session] = await list(bearer);
    expect(Date.now() - Date.parse(String(session?.last_active_at))).toBeLessThan(3600_000);
  });
});

describe('a single session', () => {
  test('ends with its tokens and applications, and nothing else ends', async () => {
    const [other, here] = [await signIn(), await signIn()];
    const client = await flow.client();
    const app = await flow.tokens(client, other.cookie);
    const session = (await list(here.bearer)).find(({ is_current }) => !is_current);
    expect((await end(here.bearer, session?.id)).status).toBe(200);
    for (const token of [other.token, app.access_token]) await expectRefused(identity.http, token);
    expect((await flow.refresh(client, app.refresh_token)).status).toBe(400);
    expect(await list(here.bearer)).toHaveLength(1);
    expect((await activityOf(identity, user)).at(-1)).toMatchObject({ action: 'session_revoked' });
    expect(await publishedEventsOf(identity, user)).toEqual([
      expect.objectContaining({ session_id: session?.id, reason: 'session_revoked' }),
    ]);
    expect((await end(here.bearer, session?.id)).status).toBe(404);
  });

  test('of another user is not found, and continues', async () => {
    const stranger = await signIn({}, await identity.people.user());
    const [theirs] = await list(stranger.bearer);
    const here = await signIn();
    expect((await end(here.bearer, theirs?.id)).status).toBe(404);
    expect((await end(here.bearer, 'nothing')).status).toBe(404);
    expect(await me(stranger.bearer)).toBe(200);
  });
});

describe('signing out everywhere else', () => {
  test('ends every other session and keeps this one with its apps', async () => {
    const [other, here] = [await signIn(), await signIn()];
    const client = await flow.client();
    const [away, own] = [
      await flow.tokens(client, other.cookie),
      await flow.tokens(client, here.cookie),
    ];
    const stranger = await signIn({}, await identity.people.user());
    expect((await endOthers(here.bearer)).status).toBe(200);
    for (const token of [other.token, away.access_token]) await expectRefused(identity.http, token);
    expect((await flow.refresh(client, away.refresh_token)).status).toBe(400);
    expect(await me(here.bearer)).toBe(200);
    expect((await flow.refresh(client, own.refresh_token)).status).toBe(200);
    expect(await me(stranger.bearer)).toBe(200);
    expect((await activityOf(identity, user)).at(-1)).toMatchObject({ action: 'logout_others' });
  });

  test('ends impersonations of the user, and keeps those by the user', async () => {
    const [chief, colleague] = [
      await identity.people.user({ data: { isSystemAdmin: true } }),
      await identity.people.user({ data: { isSystemAdmin: true } }),
    ];
    const impersonate = async (whom: User, as: Bearer): Promise<string> => {
      const answer = await identity.http
        .post(`/api/admin/users/${whom.id}/impersonate`)
        .set(as)
        .send({ reason: 'Ticket 42' })
        .expect(200);
      return answer.body.data.token;
    };
    const ofUser = await impersonate(user, (await signIn({}, chief)).bearer);
    const here = await signIn();
    await endOthers(here.bearer).expect(200);
    await expectRefused(identity.http, ofUser);
    expect(await me(here.bearer)).toBe(200);
    const there = await signIn({}, colleague);
    const byColleague = await impersonate(user, there.bearer);
    await endOthers(there.bearer).expect(200);
    expect(await me(bearerOf(byColleague))).toBe(200);
  });

  test('keeps only this device trusted', async () => {
    await signIn({ 'user-agent': 'curl/8' });
    const here = await signIn();
    const { device } = identity.context.database;
    await device.updateMany({
      where: { userId: user.id },
      data: { trustedUntil: new Date(Date.now() + 3600_000) },
    });
    await endOthers(here.bearer);
    const trusted = await device.findMany({
      where: { userId: user.id, trustedUntil: { not: null } },
      include: { sessions: true },
    });
    const [mine] = await list(here.bearer);
    expect(trusted.flatMap(({ sessions }) => sessions.map(({ id }) => id))).toEqual([mine?.id]);
  });
});

test('a third-party application cannot list or end sessions', async () => {
  const { cookie } = await signIn();
  const tenant = await flow.client({ tenantId: user.tenantId ?? '' });
  const bearer = bearerOf((await flow.tokens(tenant, cookie)).access_token);
  const { session } = identity.context.database;
  const { id } = await session.findFirstOrThrow({ where: { userId: user.id } });
  for (const answer of [
    await identity.http.get('/api/sessions').set(bearer),
    await end(bearer, id),
    await endOthers(bearer),
  ]) {
    expect([answer.status, answer.body.error]).toEqual([403, 'first_party_required']);
  }
});

test('A user has a limited number of open sessions: a sign-in ends the one that was used least recently', async () => {
  const { people, context } = identity;
  const oldest = await people.signIn(user);
  const { database } = context;
  const first = await database.session.findFirstOrThrow({ where: { userId: user.id } });
  const { id: _, ...like } = first;
  const later = (i: number) => new Date(+first.lastActiveAt + i);
  await database.session.createMany({
    data: Array.from({ length: MAX_OPEN_SESSIONS - 1 }, (_element, i) => ({
      ...like,
      secretHash: randomBytes(32),
      lastActiveAt: later(i + 1),
    })),
  });
  await identity.http
    .get('/api/me')
    .set(await people.signIn(user))
    .expect(200);
  await identity.http.get('/api/me').set(oldest).expect(401);
  const open = { where: { userId: user.id, endedAt: null } };
  expect(await database.session.count(open)).toBe(MAX_OPEN_SESSIONS);
  const told = await database.outboxEvent.findMany({ where: { topic: 'identity.token.revoked' } });
  expect(told.map(({ payload }) => payload)).toContainEqual(
    expect.objectContaining({
      data: expect.objectContaining({ session_id: first.id, reason: 'too_many_sessions' }),
    }),
  );
});
