import { parseEvent } from '@tessera/contracts';
import type { User } from '../../generated/prisma/client.ts';
import { startIdentity } from '../../testing/identity.ts';
import { type Bearer, PASSWORD } from '../../testing/population.ts';

const identity = await startIdentity();
afterAll(() => identity.stop());

let user: User;
let bearer: Bearer;
beforeEach(async () => {
  user = await identity.people.user({ tenant: await identity.people.tenant() });
  bearer = await identity.people.signIn(user);
});

const get = (path: string) => identity.http.get(path).set(bearer);
const put = (path: string, body: object) => identity.http.put(path).set(bearer).send(body);

describe('GET /api/profile', () => {
  test('contains the fields of a profile', async () => {
    const answer = await get('/api/profile');
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        success: true,
        data: {
          id: user.id,
          email: user.email,
          name: 'Ada Tester',
          first_name: 'Ada',
          last_name: 'Tester',
          phone: null,
          avatar_url: null,
          timezone: 'UTC',
          locale: 'en',
        },
      },
    ]);
  });

  test('is only for users: a client has no profile', async () => {
    const { bearer } = await identity.people.application('*');
    const answer = await identity.http.get('/api/profile').set(bearer);
    expect([answer.status, answer.body.error]).toEqual([403, 'permission_denied']);
  });
});

describe.each(['/api/profile', '/api/user/profile'])('PUT %s', (path) => {
  test('changes the given fields and returns the updated profile', async () => {
    const change = { last_name: 'Lovelace-Őry', timezone: 'Europe/Budapest', locale: 'hu' };
    const answer = await put(path, change);
    expect(answer.status).toBe(200);
    expect(answer.body.data).toMatchObject({ first_name: 'Ada', ...change });
    expect((await get('/api/profile')).body.data).toEqual(answer.body.data);
  });

  test.each(['Europe/Kiev', 'Asia/Calcutta', 'US/Eastern', 'Etc/GMT+5', 'GMT', 'CET', 'Poland'])(
    'takes the time zone %s by this name',
    async (timezone) => {
      expect((await put(path, { timezone }).expect(200)).body.data.timezone).toBe(timezone);
      expect((await get('/api/profile')).body.data.timezone).toBe(timezone);
    },
  );

  test('sets and removes a telephone number', async () => {
    expect((await put(path, { phone: '+36 1 234-5678' })).body.data.phone).toBe('+36 1 234-5678');
    expect((await put(path, { phone: null })).body.data.phone).toBeNull();
  });

  test('names every invalid field', async () => {
    const answer = await put(path, {
      first_name: ' ',
      phone: 'call me',
      timezone: 'Europe/Atlantis',
      locale: 'fr',
    });
    expect([answer.status, Object.keys(answer.body.errors).sort()]).toEqual([
      422,
      ['first_name', 'locale', 'phone', 'timezone'],
    ]);
  });

  test.each(['email', 'is_system_admin', 'is_active', 'tenant_id', 'is_service_account'])(
    'rejects %s, which users cannot change themselves',
    async (field) => {
      const answer = await put(path, { [field]: true });
      expect([answer.status, Object.keys(answer.body.errors)]).toEqual([422, [field]]);
    },
  );
});

describe('a change of the profile', () => {
  test('creates one event and one activity entry; a change without effect creates none', async () => {
    await put('/api/profile', {});
    await put('/api/profile', { first_name: 'Augusta' });
    const { database } = identity.context;
    const events = await database.outboxEvent.findMany({ where: { key: user.id } });
    expect(
      events.map(({ topic, payload }) => parseEvent(topic, JSON.stringify(payload))),
    ).toMatchObject([
      { ok: true, event: { type: 'identity.user.updated', data: { user_id: user.id } } },
    ]);
    const { body } = await get('/api/profile/activity');
    const changes = body.data.filter(
      ({ action }: { action: string }) => action === 'profile_updated',
    );
    expect(changes).toHaveLength(1);
  });
});

describe('GET /api/me/security', () => {
  test('shows the security status', async () => {
    const answer = await get('/api/me/security');
    expect([answer.status, answer.body.data]).toEqual([
      200,
      {
        two_factor_enabled: false,
        pin_enabled: false,
        force_password_change: false,
        password_changed_at: null,
      },
    ]);
  });

  test('is available before a required password change, unlike the profile', async () => {
    const { database } = identity.context;
    await database.user.update({ where: { id: user.id }, data: { forcePasswordChange: true } });
    const answer = await get('/api/me/security');
    expect([answer.status, answer.body.data.force_password_change]).toEqual([200, true]);
    const refused = await get('/api/profile');
    expect([refused.status, refused.body.error]).toEqual([403, 'password_change_required']);
  });
});

describe('GET /api/profile/activity', () => {
  const record = (count: number) =>
    identity.context.database.activityEntry.createMany({
      data: Array.from({ length: count }, (_, n) => ({
        userId: user.id,
        action: `action-${n}`,
        createdAt: new Date(Date.now() + n),
      })),
    });

  test('reports an empty user agent as none, also in entries of earlier releases', async () => {
    const { email } = user;
    const { database } = identity.context;
    const where = { userId: user.id };
    await identity.http
      .post('/api/auth/login')
      .set('user-agent', '')
      .send({ email, password: PASSWORD })
      .expect(200);
    expect(await database.activityEntry.count({ where: { userAgent: '', ...where } })).toBe(0);
    await database.activityEntry.updateMany({ where, data: { userAgent: '' } });
    const { body } = await get('/api/profile/activity').expect(200);
    expect(body.data.map((entry: { user_agent: unknown }) => entry.user_agent)).toEqual([
      null,
      null,
    ]);
  });

  test('returns a page of 20 by default, newest first, with the meta of the list', async () => {
    await record(24);
    const answer = await get('/api/profile/activity');
    expect(answer.body.meta).toEqual({ current_page: 1, last_page: 2, per_page: 20, total: 25 });
    expect(answer.body.data).toHaveLength(20);
    expect(answer.body.data[0].action).toBe('action-23');
    const rest = await get('/api/profile/activity?page=2');
    expect(rest.body.data.at(-1)).toEqual({
      id: expect.any(String),
      action: 'login',
      ip_address: '127.0.0.1',
      user_agent: null,
      kind: 'sign_in',
      by_operator: false,
      changes: null,
      created_at: expect.stringMatching(/Z$/),
    });
  });

  test('returns the last page for a page beyond it', async () => {
    await record(24);
    const beyond = await get('/api/profile/activity?page=9');
    expect(beyond.body.meta.current_page).toBe(2);
    expect(beyond.body).toEqual((await get('/api/profile/activity?page=2')).body);
  });

  test.each([
    ['per_page=1000', 100],
    ['per_page=0', 1],
  ])('moves %s to %i', async (query, perPage) => {
    expect((await get(`/api/profile/activity?${query}`)).body.meta.per_page).toBe(perPage);
  });

  test('a per_page that is not an integer is 422', async () => {
    const answer = await get('/api/profile/activity?per_page=many');
    expect([answer.status, Object.keys(answer.body.errors)]).toEqual([422, ['per_page']]);
  });

  const day = (number: number) => new Date(Date.UTC(2020, 0, number));
  const some = (...actions: string[]) =>
    identity.context.database.activityEntry.createMany({
      data: actions.map((action, index) => ({
        userId: user.id,
        action,
        createdAt: day(index + 1),
      })),
    });
  const found = async (query: string) => {
    const { body } = await get(`/api/profile/activity?${query}`);
    return [body.data.map(({ action }: { action: string }) => action), body.meta.total];
  };

  test('is filtered by category and by time', async () => {
    await some('logout', 'pin_set', 'login_failed', 'profile_updated');
    expect(await found('kind=sign_in')).toEqual([['login', 'login_failed', 'logout'], 3]);
    expect(await found('kind=security')).toEqual([['pin_set'], 1]);
    expect(await found('kind=app')).toEqual([[], 0]);
    const span = `from=${day(2).toISOString()}&to=${day(4).toISOString()}`;
    expect(await found(span)).toEqual([['login_failed', 'pin_set'], 2]);
    expect(await found(`${span}&kind=sign_in`)).toEqual([['login_failed'], 1]);
  });

  test('keeps its order across the pages of a category', async () => {
    await some('logout', 'login_failed', 'pin_set', 'logout', 'login_failed');
    const pages = [1, 2, 3].map((page) => found(`kind=sign_in&per_page=2&page=${page}`));
    expect(await Promise.all(pages)).toEqual([
      [['login', 'login_failed'], 5],
      [['logout', 'login_failed'], 5],
      [['logout'], 5],
    ]);
  });

  test.each([
    ['kind=everything', 'kind'],
    ['from=yesterday', 'from'],
    ['from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z', 'to'],
  ])('is 422 for %s', async (query, field) => {
    const answer = await get(`/api/profile/activity?${query}`);
    expect([answer.status, Object.keys(answer.body.errors)]).toEqual([422, [field]]);
  });

  test('shows nobody else’s', async () => {
    const other = await identity.people.user();
    await identity.people.signIn(other);
    expect((await get('/api/profile/activity')).body.meta.total).toBe(1);
  });
});
