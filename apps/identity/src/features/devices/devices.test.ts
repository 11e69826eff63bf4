import { hash, randomBytes } from 'node:crypto';
import type { Tenant, User } from '../../generated/prisma/client.ts';
import { cookieValueOf, deviceCookieOf, setCookieOf } from '../../testing/cookies.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import type { Bearer } from '../../testing/population.ts';
import { stepsOf } from '../../testing/sign-in.ts';
import { claimsOf } from '../../testing/tokens.ts';
import { MAX_DEVICES, MAX_UNRECOGNISED } from './devices.repository.ts';

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0';
const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1';

let identity: TestIdentity;
let steps: ReturnType<typeof stepsOf>;
let tenant: Tenant;
let user: User;
beforeAll(async () => {
  identity = await startIdentity();
  steps = stepsOf(identity);
  tenant = await identity.people.tenant();
});
afterAll(() => identity.stop());
beforeEach(async () => {
  user = await identity.people.user({ tenant });
});

const list = async (bearer: Bearer): Promise<Record<string, unknown>[]> => {
  const { status, body } = await identity.http.get('/api/devices').set(bearer);
  expect(status).toBe(200);
  const { length } = body.data;
  expect(body.meta).toEqual({ current_page: 1, last_page: 1, per_page: length, total: length });
  return body.data;
};

const revoke = (bearer: Bearer, id: unknown) =>
  identity.http.post(`/api/devices/${id}/revoke`).set(bearer);

describe('every sign-in records its device', () => {
  test('which the list describes', async () => {
    const phone = steps.bearerOf(await steps.login(user, { 'user-agent': IPHONE }));
    await steps.login(user, { 'user-agent': FIREFOX });
    expect(await list(phone)).toEqual([
      {
        id: expect.any(String),
        device_name: 'Firefox on Linux',
        device_type: 'desktop',
        browser: 'Firefox',
        os: 'Linux',
        ip_address: '127.0.0.1',
        country: null,
        city: null,
        is_trusted: false,
        is_current: false,
        last_used_at: expect.any(String),
      },
      expect.objectContaining({
        device_name: 'Safari on iOS',
        device_type: 'mobile',
        browser: 'Safari',
        os: 'iOS',
        is_current: true,
      }),
    ]);
  });

  test.each([
    ['okhttp/4.12.0', 'okhttp'],
    ['(unknown)', 'unknown'],
    ['x'.repeat(8000), 'x'.repeat(60)],
    [`${'x'.repeat(400)}/1.0 (y)`, 'x'.repeat(60)],
    ['Your account is locked: see https://evil.test/ (now)', 'Your'],
    ['', 'Unknown device'],
  ])('whatever its user agent claims: %.20s', async (userAgent, name) => {
    const bearer = steps.bearerOf(await steps.login(user, { 'user-agent': userAgent }));
    const [device] = await list(bearer);
    expect(device).toMatchObject({ device_name: name, device_type: 'unknown', os: 'unknown' });
  });

  test('by a long-lived cookie, of which only a digest is stored', async () => {
    const answer = await steps.login(user);
    expect(setCookieOf(answer, '__Host-device')).toMatch(
      /^__Host-device=[\w-]{43}; Max-Age=34560000; Path=\/; Expires=[^;]+; HttpOnly; Secure; SameSite=Lax$/,
    );
    const secret = cookieValueOf(answer, '__Host-device') ?? '';
    const [device] = await identity.context.database.device.findMany({
      where: { userId: user.id },
    });
    expect(Buffer.from(device?.secretHash ?? [])).toEqual(hash('sha256', secret, 'buffer'));
  });

  test('once per cookie, whatever else has changed', async () => {
    const first = await steps.login(user, { 'user-agent': FIREFOX });
    const again = await steps.login(user, { ...deviceCookieOf(first), 'user-agent': IPHONE });
    expect(deviceCookieOf(again)).toEqual(deviceCookieOf(first));
    const devices = await list(steps.bearerOf(again));
    expect(devices).toEqual([
      expect.objectContaining({ device_name: 'Safari on iOS', is_current: true }),
    ]);
  });

  test.each(['curl/8', ''])(
    'once per user agent without a cookie, also concurrently: %j',
    async (userAgent) => {
      const one = () => steps.login(user, { 'user-agent': userAgent });
      const answers = [await one(), ...(await Promise.all([one(), one(), one(), one(), one()]))];
      answers.push(await one());
      const cookies = answers.map((answer) => deviceCookieOf(answer).cookie);
      expect(new Set(cookies).size).toBe(7);
      for (const answer of answers) {
        expect(await list(steps.bearerOf(answer))).toMatchObject([{ is_current: true }]);
      }
      const other = steps.bearerOf(await steps.login(user, { 'user-agent': 'curl/9' }));
      expect(await list(other)).toHaveLength(2);
      const { database } = identity.context;
      expect(await database.device.count({ where: { userId: user.id } })).toBe(2);
    },
  );

  test('once per user agent with the unknown cookies of other sites or times', async () => {
    let bearer: Bearer = { authorization: '' };
    for (let i = 0; i < 3; i += 1) {
      const cookie = `__Host-device=${randomBytes(32).toString('base64url')}`;
      bearer = steps.bearerOf(await steps.login(user, { 'user-agent': 'curl/8', cookie }));
    }
    expect(await list(bearer)).toMatchObject([{ is_current: true }]);
  });

  test('as devices of their own once their cookies come back, each with its sessions', async () => {
    const headers = { 'user-agent': FIREFOX };
    const answers = [];
    for (let i = 0; i < 3; i += 1) answers.push(await steps.login(user, headers));
    for (const index of [1, 0, 2]) {
      const before = answers[index] as (typeof answers)[number];
      const again = await steps.login(user, { ...headers, ...deviceCookieOf(before) });
      expect(deviceCookieOf(again)).toEqual(deviceCookieOf(before));
      const current = async (bearer: Bearer) =>
        (await list(bearer)).find((device) => device.is_current)?.id;
      const ids = await Promise.all(answers.map((answer) => current(steps.bearerOf(answer))));
      expect(ids[index]).toBe(await current(steps.bearerOf(again)));
      expect(ids.filter((id) => id === ids[index])).toHaveLength(1);
    }
    const [first, second, third] = answers.map(steps.bearerOf) as [Bearer, Bearer, Bearer];
    const devices = await list(first);
    expect(devices).toHaveLength(3);
    const own = devices.find((device) => device.is_current);
    await revoke(first, own?.id).expect(200);
    const me = async (bearer: Bearer) => (await identity.http.get('/api/me').set(bearer)).status;
    expect([await me(first), await me(second), await me(third)]).toEqual([401, 200, 200]);
  });

  test('together while no cookie comes back: revoking the shared device ends all its sessions', async () => {
    const here = steps.bearerOf(await steps.login(user, { 'user-agent': IPHONE }));
    const lost = [];
    for (let i = 0; i < 3; i += 1) lost.push(await steps.login(user, { 'user-agent': FIREFOX }));
    const shared = (await list(here)).find((device) => !device.is_current);
    await revoke(here, shared?.id).expect(200);
    for (const answer of lost) {
      expect((await identity.http.get('/api/me').set(steps.bearerOf(answer))).status).toBe(401);
      const again = await steps.login(user, { 'user-agent': FIREFOX, ...deviceCookieOf(answer) });
      expect(deviceCookieOf(again)).not.toEqual(deviceCookieOf(answer));
    }
    expect(await list(here)).toHaveLength(2);
  });

  test('and turns those with the same user agent that never returned into one', async () => {
    const { database } = identity.context;
    const answers = await Promise.all(
      ['a/1', 'a/2', 'a/3'].map((userAgent) => steps.login(user, { 'user-agent': userAgent })),
    );
    const where = { userId: user.id };
    await database.device.updateMany({ where, data: { userAgent: 'a/1' } });
    const bearer = steps.bearerOf(await steps.login(user, { 'user-agent': 'a/1' }));
    for (const answer of answers) {
      expect(await list(steps.bearerOf(answer))).toMatchObject([{ is_current: true }]);
    }
    expect(await list(bearer)).toMatchObject([{ is_current: true }]);
    for (const answer of answers) {
      const again = await steps.login(user, { 'user-agent': 'a/1', ...deviceCookieOf(answer) });
      expect(deviceCookieOf(again)).toEqual(deviceCookieOf(answer));
    }
  });

  test('but does not share one that its user has named', async () => {
    const bearer = steps.bearerOf(await steps.login(user, { 'user-agent': FIREFOX }));
    const [device] = await list(bearer);
    const named = { device_name: 'Kitchen' };
    await identity.http.put(`/api/devices/${device?.id}`).set(bearer).send(named).expect(200);
    await steps.login(user, { 'user-agent': FIREFOX });
    expect(await list(bearer)).toHaveLength(2);
  });

  test('without accumulating more than a bounded number, trusted ones last', async () => {
    const { database } = identity.context;
    const rows = Array.from({ length: MAX_DEVICES + 5 }, (_, index) => ({
      userId: user.id,
      secretHash: randomBytes(32),
      keepsCookie: true,
      lastUsedAt: new Date(index * 1000),
      trustedUntil: index === 0 ? new Date(Date.now() + 3600_000) : null,
      name: 'curl',
      type: 'unknown',
      browser: 'curl',
      os: 'unknown',
    }));
    await database.device.createMany({ data: rows });
    const bearer = steps.bearerOf(await steps.login(user));
    const devices = await list(bearer);
    expect(devices).toHaveLength(MAX_DEVICES);
    expect(devices.filter((device) => device.is_trusted)).toHaveLength(1);
    expect(devices.filter((device) => device.is_current)).toHaveLength(1);
    expect(await database.device.count({ where: { userId: user.id } })).toBe(MAX_DEVICES);
  });

  test('without accumulating devices that never return and have no session', async () => {
    const { database } = identity.context;
    const kept = steps.bearerOf(await steps.login(user));
    await database.device.createMany({
      data: Array.from({ length: MAX_UNRECOGNISED + 10 }, (_, index) => ({
        userId: user.id,
        userAgent: `curl/${index}`,
        secretHash: randomBytes(32),
        lastUsedAt: new Date(0),
        name: 'curl',
        type: 'unknown',
        browser: 'curl',
        os: 'unknown',
      })),
    });
    const newest = await steps.login(user, { 'user-agent': FIREFOX });
    expect(await list(kept)).toHaveLength(MAX_UNRECOGNISED + 1);
    expect((await identity.http.get('/api/me').set(kept)).status).toBe(200);
    expect((await identity.http.get('/api/me').set(steps.bearerOf(newest))).status).toBe(200);
  });

  test('separately for browsers with different cookies and the same user agent', async () => {
    const mine = await steps.login(user, { 'user-agent': FIREFOX });
    await steps.login(user, { ...deviceCookieOf(mine), 'user-agent': FIREFOX });
    const stranger = await steps.login(user, { 'user-agent': FIREFOX });
    expect(deviceCookieOf(stranger)).not.toEqual(deviceCookieOf(mine));
    expect(await list(steps.bearerOf(stranger))).toHaveLength(2);
  });

  test.each([
    '__Host-device=',
    '__Host-device=%F0%9F',
    '__Host-device=🍪',
    `__Host-device=${'x'.repeat(7000)}`,
  ])('and ignores an invalid cookie: %.25s', async (cookie) => {
    const answer = await steps.login(user, { cookie: Buffer.from(cookie).toString('latin1') });
    expect([answer.status, await list(steps.bearerOf(answer))]).toEqual([
      200,
      [expect.objectContaining({ is_current: true })],
    ]);
  });

  test('of another user as a separate device', async () => {
    const other = await identity.people.user({ tenant });
    const theirs = await steps.login(other);
    const mine = await steps.login(user, deviceCookieOf(theirs));
    expect(deviceCookieOf(mine)).not.toEqual(deviceCookieOf(theirs));
    expect(await list(steps.bearerOf(mine))).toHaveLength(1);
  });
});

describe('revoking a device', () => {
  test('removes it, ends its sessions and publishes that', async () => {
    const { database } = identity.context;
    const here = steps.bearerOf(await steps.login(user, { 'user-agent': FIREFOX }));
    const lost = await steps.login(user, { 'user-agent': IPHONE });
    const again = await steps.login(user, { ...deviceCookieOf(lost), 'user-agent': IPHONE });
    const [device] = await list(here);
    const answer = await revoke(here, device?.id);
    expect([answer.status, answer.body.success]).toEqual([200, true]);
    const ended = [lost, again].map(steps.bearerOf);
    for (const bearer of ended) {
      expect((await identity.http.get('/api/me').set(bearer)).status).toBe(401);
    }
    expect(await list(here)).toEqual([expect.objectContaining({ is_current: true })]);
    const events = await database.outboxEvent.findMany({ where: { key: user.id } });
    const sessions = ended.map(({ authorization }) => claimsOf(authorization.slice(7)).sid);
    expect(events.map(({ payload }) => (payload as { data: object }).data)).toEqual(
      expect.arrayContaining(
        sessions.map((session_id) => ({ session_id, user_id: user.id, reason: 'device_revoked' })),
      ),
    );
    const where = { userId: user.id, action: 'device_revoked' };
    expect(await database.activityEntry.count({ where })).toBe(1);
  });

  test('signs out if it is the current device', async () => {
    const bearer = steps.bearerOf(await steps.login(user));
    const [device] = await list(bearer);
    expect((await revoke(bearer, device?.id)).status).toBe(200);
    expect((await identity.http.get('/api/me').set(bearer)).status).toBe(401);
  });

  test('is 404 for a device of another user, a removed one or an unknown one', async () => {
    const mine = steps.bearerOf(await steps.login(user));
    const other = await identity.people.user({ tenant });
    const theirs = steps.bearerOf(await steps.login(other));
    const [device] = await list(theirs);
    for (const id of [device?.id, '0191d9f0-0000-7000-8000-000000000000', 'no-uuid', '🦊']) {
      const { status, body } = await revoke(mine, encodeURIComponent(`${id}`));
      expect([status, body.error]).toEqual([404, 'not_found']);
    }
    expect((await identity.http.get('/api/me').set(theirs)).status).toBe(200);
  });
});

describe('a user’s own device', () => {
  const rename = (bearer: Bearer, id: unknown, device_name: unknown) =>
    identity.http.put(`/api/devices/${id}`).set(bearer).send({ device_name });
  const distrust = (bearer: Bearer, id: unknown) =>
    identity.http.delete(`/api/devices/${id}/trust`).set(bearer);
  const trusted = async () => {
    const bearer = steps.bearerOf(await steps.login(user, { 'user-agent': FIREFOX }));
    await identity.context.database.device.updateMany({
      where: { userId: user.id },
      data: { trustedUntil: new Date(Date.now() + 3600_000) },
    });
    const [device] = await list(bearer);
    return { bearer, id: device?.id };
  };

  test('can have a name, which survives the next sign-in and can be removed', async () => {
    const first = await steps.login(user, { 'user-agent': FIREFOX });
    const bearer = steps.bearerOf(first);
    const [device] = await list(bearer);
    const { status, body } = await rename(bearer, device?.id, ' Kitchen ');
    expect([status, body.data]).toMatchObject([
      200,
      { device_name: 'Kitchen', browser: 'Firefox' },
    ]);
    await steps.login(user, { 'user-agent': FIREFOX, ...deviceCookieOf(first) });
    expect(await list(bearer)).toMatchObject([{ device_name: 'Kitchen' }]);
    await rename(bearer, device?.id, null);
    expect(await list(bearer)).toMatchObject([{ device_name: 'Firefox on Linux' }]);
    const { database } = identity.context;
    const noted = { userId: user.id, action: 'device_renamed' };
    expect(await database.activityEntry.count({ where: noted })).toBe(2);
  });

  test.each(['', ' ', 'x'.repeat(101), 7])('cannot have a name such as %j', async (name) => {
    const { bearer, id } = await trusted();
    const { status, body } = await rename(bearer, id, name);
    expect([status, Object.keys(body.errors)]).toEqual([422, ['device_name']]);
  });

  test('can lose its trust and stays signed in', async () => {
    const { bearer, id } = await trusted();
    expect((await distrust(bearer, id)).status).toBe(200);
    expect((await distrust(bearer, id)).status).toBe(200);
    expect(await list(bearer)).toMatchObject([{ id, is_trusted: false }]);
    const { database } = identity.context;
    const noted = { userId: user.id, action: 'device_untrusted' };
    expect(await database.activityEntry.count({ where: noted })).toBe(1);
  });

  test('cannot be renamed or distrusted by others', async () => {
    const { bearer, id } = await trusted();
    const stranger = await identity.people.caller(tenant);
    expect((await rename(stranger, id, 'Mine')).status).toBe(404);
    expect((await distrust(stranger, id)).status).toBe(404);
    expect(await list(bearer)).toMatchObject([
      { device_name: 'Firefox on Linux', is_trusted: true },
    ]);
  });
});
