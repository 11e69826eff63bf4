import type { Tenant, User } from '../../generated/prisma/client.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import { type Bearer, PASSWORD } from '../../testing/population.ts';
import { bearerOf, publishedEventsOf } from '../../testing/sessions.ts';
import { claimsOf } from '../../testing/tokens.ts';

/** The routes available to impersonation tokens (decision I16). */
const admitted = [
  'GET /api/me',
  'GET /api/me/security',
  'GET /api/user',
  'GET /api/policies',
  'GET /api/profile',
  'GET /api/profile/activity',
  'POST /api/auth/logout',
];
/** These tokens cannot be renewed: 401 (decision I4). */
const RENEWAL = 'POST /api/auth/refresh';

let identity: TestIdentity;
let tenant: Tenant;
let chief: User;
let asChief: Bearer;
let user: User;
beforeAll(async () => {
  identity = await startIdentity();
  // An administrator who is not the last one, so that tests can change them.
  await identity.people.user({ data: { isSystemAdmin: true } });
});
afterAll(() => identity.stop());
beforeEach(async () => {
  tenant = await identity.people.tenant();
  chief = await identity.people.user({ data: { isSystemAdmin: true } });
  asChief = await identity.people.signIn(chief);
  user = await identity.people.user({ tenant, actions: ['*'] });
});

const database = () => identity.context.database;
const impersonate = (whom: User, body: object = { reason: 'Ticket 42' }, as: Bearer = asChief) =>
  identity.http.post(`/api/admin/users/${whom.id}/impersonate`).set(as).send(body);
const acting = async (whom: User = user): Promise<Bearer> =>
  bearerOf((await impersonate(whom).expect(200)).body.data.token);
const get = (as: Bearer, path: string) => identity.http.get(path).set(as);
const post = (as: Bearer, path: string) => identity.http.post(path).set(as);

describe('impersonation', () => {
  test('returns a one-hour token that names the administrator, and opens no session', async () => {
    const answer = await impersonate(user).expect(200);
    const { token, ...rest } = answer.body.data;
    expect(rest).toEqual({
      expires_in: 3600,
      user: {
        id: user.id,
        email: user.email,
        name: 'Ada Tester',
        first_name: 'Ada',
        last_name: 'Tester',
      },
    });
    expect(answer.headers['set-cookie']).toBeUndefined();
    const { sub, act, tenant_id, sid, token_use, iat = 0, exp } = claimsOf(token);
    expect({ sub, act, tenant_id, sid, token_use, exp }).toEqual({
      sub: user.id,
      act: { sub: chief.id },
      tenant_id: tenant.id,
      // It belongs to the session of the administrator.
      sid: claimsOf(asChief.authorization.slice('Bearer '.length)).sid,
      token_use: 'impersonation',
      exp: iat + 3600,
    });
    expect(await database().session.count({ where: { userId: user.id } })).toBe(0);
  });

  test('shows services the user with their permissions, and the administrator', async () => {
    const { body } = await get(await acting(), '/api/user').expect(200);
    expect(body.data).toMatchObject({
      id: user.id,
      tenant_id: tenant.id,
      is_system_admin: false,
      impersonator_id: chief.id,
    });
    const rights = await get(await acting(), '/api/policies').expect(200);
    expect(rights.body.data).toEqual([{ action: '*', effect: 'allow' }]);
  });

  test('is recorded in the activity of both, with the reason and the administrator', async () => {
    await impersonate(user, { reason: 'Ticket 42' }).expect(200);
    const entries = await database().activityEntry.findMany({
      where: { OR: [{ userId: user.id }, { subjectId: user.id }] },
      orderBy: { id: 'asc' },
      omit: { id: true, createdAt: true, userAgent: true, changes: true, command: true },
    });
    expect(entries).toEqual([
      {
        userId: chief.id,
        tenantId: null,
        action: 'impersonation_started',
        subjectId: user.id,
        impersonatorId: null,
        reason: 'Ticket 42',
        ipAddress: '127.0.0.1',
        byOperator: true,
      },
      {
        userId: user.id,
        tenantId: tenant.id,
        action: 'impersonated',
        subjectId: null,
        impersonatorId: chief.id,
        reason: 'Ticket 42',
        ipAddress: '127.0.0.1',
        byOperator: true,
      },
    ]);
  });

  test.each([[{}], [{ reason: '' }], [{ reason: '  ' }], [{ reason: 'x'.repeat(501) }]])(
    'needs a reason: %j is 422',
    async (body) => {
      const answer = await impersonate(user, body).expect(422);
      expect(Object.keys(answer.body.errors)).toEqual(['reason']);
    },
  );

  test.each([
    ['an administrator', { isSystemAdmin: true }],
    ['a service account', { isServiceAccount: true, email: null }],
    ['who is deactivated', { isActive: false }],
  ])('is not for %s', async (_whom, data) => {
    const whom = await identity.people.user({ tenant, data });
    const answer = await impersonate(whom).expect(403);
    expect(answer.body.error).toBe('impersonation_forbidden');
    expect(await database().token.count({ where: { userId: whom.id } })).toBe(0);
  });

  test('of an unknown user is 404, and requires a system administrator', async () => {
    await impersonate({ ...user, id: tenant.id }).expect(404);
    const owner = await identity.people.caller(tenant, '*');
    expect((await impersonate(user, undefined, owner).expect(403)).body.error).toBe(
      'permission_denied',
    );
    const { bearer } = await identity.people.application('identity.users.impersonate');
    expect((await impersonate(user, undefined, bearer).expect(403)).body.error).toBe(
      'permission_denied',
    );
  });

  test('is possible although the user must change their password', async () => {
    const data = { forcePasswordChange: true };
    await database().user.update({ where: { id: user.id }, data });
    await get(await acting(), '/api/user').expect(200);
  });
});

describe('an impersonated session', () => {
  test('can only use read-only routes and sign out', async () => {
    const addresses = Object.entries(identity.document.paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, operation]) => operation['x-permissions'] !== 'public')
        .map(([method]) => `${method.toUpperCase()} ${path}`),
    );
    const answers: Record<string, string> = {};
    for (const address of addresses) {
      const [method = '', path = ''] = address.split(' ');
      const answer = await fetch(identity.url + path.replaceAll(/\{\w+\}/g, tenant.id), {
        method,
        headers: await acting(),
      });
      const { error } = (await answer.json()) as { error?: string };
      answers[address] = error === undefined ? 'admitted' : `${answer.status} ${error}`;
    }
    const expected = addresses.map((address) => {
      if (address === RENEWAL) return [address, '401 unauthenticated'];
      return [address, admitted.includes(address) ? 'admitted' : '403 impersonation_forbidden'];
    });
    expect(answers).toEqual(Object.fromEntries(expected));
    expect(addresses).toEqual(expect.arrayContaining([...admitted, RENEWAL]));
  });

  test('cannot register users even if registration is enabled', async () => {
    const open = await startIdentity({ REGISTRATION_ENABLED: 'true' });
    const administrator = await open.people.user({ data: { isSystemAdmin: true } });
    const owner = await open.people.user({ tenant: await open.people.tenant(), actions: ['*'] });
    const { body } = await open.http
      .post(`/api/admin/users/${owner.id}/impersonate`)
      .set(await open.people.signIn(administrator))
      .send({ reason: 'Ticket 42' });
    const password = 'Correct-horse-8-battery';
    const answer = await open.http.post('/api/auth/register').set(bearerOf(body.data.token)).send({
      first_name: 'New',
      last_name: 'Member',
      email: 'new@example.test',
      password,
      password_confirmation: password,
    });
    expect([answer.status, answer.body.error]).toEqual([403, 'impersonation_forbidden']);
    await open.stop();
  });

  test('ends by signing out, which revokes only that token and is recorded with the administrator', async () => {
    const own = await identity.people.signIn(user);
    const [first, second] = [await acting(), await acting()];
    const answer = await post(first, '/api/auth/logout').expect(200);
    // The cookie of the browser is the administrator's own.
    expect(answer.headers['set-cookie']).toBeUndefined();
    await get(first, '/api/me').expect(401);
    for (const token of [second, own, asChief]) await get(token, '/api/me').expect(200);
    const [entry] = await database().activityEntry.findMany({
      where: { userId: user.id, action: 'logout' },
    });
    expect(entry).toMatchObject({ impersonatorId: chief.id });
  });
});

describe('an impersonation ends', () => {
  const setAdmin = (whom: User, is_system_admin: boolean) =>
    identity.http
      .put(`/api/admin/users/${whom.id}/system-admin`)
      .set(asChief)
      .send({ is_system_admin });

  test('when the administrator loses their rights', async () => {
    const token = await acting();
    await setAdmin(chief, false).expect(200);
    await get(token, '/api/me').expect(401);
    await setAdmin(chief, true).expect(401);
    await database().user.update({ where: { id: chief.id }, data: { isSystemAdmin: true } });
    await get(token, '/api/me').expect(401);
    expect(await publishedEventsOf(identity, chief)).toContainEqual({
      topic: 'identity.token.revoked',
      user_id: chief.id,
      reason: 'administrator_changed',
    });
  });

  test('when the administrator is deactivated', async () => {
    const token = await acting();
    const other = await identity.people.user({ data: { isSystemAdmin: true } });
    await identity.http
      .put(`/api/admin/users/${chief.id}`)
      .set(await identity.people.signIn(other))
      .send({ is_active: false })
      .expect(200);
    await get(token, '/api/me').expect(401);
    await database().user.update({ where: { id: chief.id }, data: { isActive: true } });
    await get(token, '/api/me').expect(401);
  });

  test('immediately, however the administrator lost their rights', async () => {
    const token = await acting();
    await database().user.update({ where: { id: chief.id }, data: { isSystemAdmin: false } });
    await get(token, '/api/me').expect(401);
  });

  test('when the administrator signs out, there or everywhere, and services are told', async () => {
    const token = await acting();
    const session = claimsOf(token.authorization.slice('Bearer '.length)).sid;
    await post(asChief, '/api/auth/logout').expect(200);
    await get(token, '/api/me').expect(401);
    expect(await publishedEventsOf(identity, chief)).toContainEqual({
      topic: 'identity.token.revoked',
      session_id: session,
      user_id: chief.id,
      reason: 'logout',
    });
    asChief = await identity.people.signIn(chief);
    const [second, elsewhere] = [await acting(), await identity.people.signIn(chief)];
    await post(elsewhere, '/api/auth/logout').expect(200);
    await get(second, '/api/me').expect(200);
    await post(await identity.people.signIn(chief), '/api/auth/logout-all').expect(200);
    await get(second, '/api/me').expect(401);
  });

  test('when the device of the administrator is removed', async () => {
    const token = await acting();
    const { body } = await get(asChief, '/api/devices').expect(200);
    const current = body.data.find((device: { is_current: boolean }) => device.is_current);
    const other = await identity.people.signIn(chief);
    await post(other, `/api/devices/${current.id}/revoke`).expect(200);
    await get(token, '/api/me').expect(401);
  });

  test('when the administrator changes their password, also in the same session', async () => {
    const token = await acting();
    const next = 'Another-horse-8-battery';
    await post(asChief, '/api/auth/password/change')
      .send({
        current_password: PASSWORD,
        new_password: next,
        new_password_confirmation: next,
      })
      .expect(200);
    await get(asChief, '/api/me').expect(200);
    await get(token, '/api/me').expect(401);
  });

  test('with the administrator’s session, even within the hour', async () => {
    const sid = claimsOf(asChief.authorization.slice('Bearer '.length)).sid ?? '';
    const soon = new Date(Date.now() + 600_000);
    await database().session.update({ where: { id: sid }, data: { expiresAt: soon } });
    const { body } = await impersonate(user).expect(200);
    expect(body.data.expires_in).toBeLessThanOrEqual(600);
  });

  test('when the user signs out everywhere, leaves the tenant or becomes an administrator', async () => {
    const first = await acting();
    await post(await identity.people.signIn(user), '/api/auth/logout-all').expect(200);
    await get(first, '/api/me').expect(401);
    const second = await acting();
    await setAdmin(user, true).expect(200);
    await get(second, '/api/me').expect(401);
    user = await identity.people.user({ tenant });
    const third = await acting();
    await identity.http
      .delete(`/api/tenants/${tenant.id}/members/${user.id}`)
      .set(asChief)
      .expect(200);
    await get(third, '/api/me').expect(401);
  });
});
