import type { Tenant } from '../../generated/prisma/client.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import { type Mailbox, openMailbox } from '../../testing/mailbox.ts';
import { type Bearer, PASSWORD } from '../../testing/population.ts';

const NEW = 'Another-horse-8-battery';

let identity: TestIdentity;
let mailbox: Mailbox;
let tenant: Tenant;
let unique = 0;
beforeAll(async () => {
  mailbox = await openMailbox();
  identity = await startIdentity({
    MAIL_DIRECTORY: mailbox.directory,
    REGISTRATION_ENABLED: 'true',
  });
});
afterAll(async () => {
  await identity.stop();
  await mailbox.remove();
});
beforeEach(async () => {
  tenant = await identity.people.tenant();
});

const address = (): string => {
  unique += 1;
  return `new-${unique}@example.test`;
};
const form = (email: string, more: object = {}) => ({
  ...{ first_name: 'Nora', last_name: 'Neu', email },
  ...{ password: NEW, password_confirmation: NEW },
  ...more,
});
const register = (body: object, headers: object = {}) =>
  identity.http
    .post('/api/auth/register')
    .set(headers as Bearer)
    .send(body);
const login = (email: string) =>
  identity.http.post('/api/auth/login').send({ email, password: NEW });
const verify = (token: string | null) =>
  identity.http.get('/api/auth/email/verify').query({ token: token ?? '' });
const resend = (email: string) => identity.http.post('/api/auth/email/resend').send({ email });
const linkFor = async (email: string, count = 1): Promise<string | null> =>
  (await mailbox.next('email_verification', email, count)).link.searchParams.get('token');
const account = (email: string) =>
  identity.context.database.user.findFirstOrThrow({ where: { email } });

describe('register with a bearer that holds identity.users.create', () => {
  const owner = () => identity.people.caller(tenant, '*');

  test('makes a member of the active tenant, and tells of it', async () => {
    const email = address();
    const answer = await register(form(email, { role: 'viewer' }), await owner()).expect(201);
    expect(answer.body).toEqual({
      success: true,
      data: {
        id: expect.any(String),
        email,
        first_name: 'Nora',
        last_name: 'Neu',
        name: 'Nora Neu',
        tenant_id: tenant.id,
        role: 'viewer',
      },
    });
    const signedIn = await login(email).expect(200);
    const me = await identity.http
      .get('/api/me')
      .set('authorization', `Bearer ${signedIn.body.data.token}`)
      .expect(200);
    expect(me.body.data).toMatchObject({ tenant_id: tenant.id, email_verified_at: null });
    const { database } = identity.context;
    const events = await database.outboxEvent.findMany({ where: { key: tenant.id } });
    expect(events).toMatchObject([
      {
        topic: 'identity.policy.updated',
        payload: { data: { tenant_id: tenant.id, user_ids: [answer.body.data.id] } },
      },
    ]);
    await verify(await linkFor(email)).expect(200);
  });

  test('gives the role member where none is named', async () => {
    const answer = await register(form(address()), await owner()).expect(201);
    expect(answer.body.data.role).toBe('member');
  });

  test('notes it in the log of who did it, with their address', async () => {
    const answer = await register(form(address()), await owner()).expect(201);
    const noted = await identity.context.database.activityEntry.findFirst({
      where: { action: 'member_added', subjectId: answer.body.data.id },
    });
    expect(noted).toMatchObject({
      ...{ tenantId: tenant.id, ipAddress: expect.stringContaining('127.0.0.1') },
    });
  });

  test('gives no role that exceeds what the caller holds, and none that does not exist', async () => {
    const bearer = await identity.people.caller(tenant, 'identity.users.create');
    for (const role of ['owner', 'viewer', 'no-such-role']) {
      const email = address();
      const answer = await register(form(email, { role }), bearer).expect(422);
      expect(Object.keys(answer.body.errors)).toEqual(['role']);
      expect(await identity.context.database.user.count({ where: { email } })).toBe(0);
    }
  });

  test('names an address that is taken, in whatever spelling, and every rule the password breaks', async () => {
    const bearer = await owner();
    const email = 'jos\u00e9@b\u00fccher.test';
    await register(form(email), bearer).expect(201);
    for (const spelling of ['JOSE\u0301@B\u00dcCHER.test', 'jos\u00e9@xn--bcher-kva.test']) {
      const answer = await register(form(spelling), bearer).expect(422);
      expect(Object.keys(answer.body.errors)).toEqual(['email']);
    }
    const weak = { password: 'short', password_confirmation: 'shorter' };
    const answer = await register(form(address(), weak), bearer).expect(422);
    expect(answer.body.errors.password).toHaveLength(5);
    expect(answer.body.errors.password_confirmation).toHaveLength(1);
    await register(form('ada lovelace@example.test'), bearer).expect(422);
  });

  test('refuses a tenant name, and a caller without the permission or without a good token', async () => {
    const answer = await register(form(address(), { tenant_name: 'X' }), await owner()).expect(422);
    expect(Object.keys(answer.body.errors)).toEqual(['tenant_name']);
    const viewer = await identity.people.caller(tenant, 'identity.members.list');
    const refused = await register(form(address()), viewer).expect(403);
    expect(refused.body.required_permission).toBe('identity.users.create');
    await register(form(address()), { authorization: 'Bearer nonsense' }).expect(401);
  });
});

describe('register without a token', () => {
  test('is refused with 401 unless REGISTRATION_ENABLED is set', async () => {
    const closed = await startIdentity();
    const body = form(address(), { tenant_name: 'Neu' });
    await closed.http.post('/api/auth/register').send(body).expect(401);
    await closed.http.post('/api/auth/register').send({}).expect(401);
    const owner = await closed.people.caller(await closed.people.tenant(), '*');
    await closed.http.post('/api/auth/register').set(owner).send(form(address())).expect(201);
    await closed.stop();
  });

  test('makes the user, and a tenant of their own', async () => {
    const email = address();
    const body = form(email.toUpperCase(), { tenant_name: 'Café Kovács & Co.' });
    await register(body, { 'accept-language': 'hu' }).expect(202);
    const mail = await mailbox.next('email_verification', email);
    expect(mail.subject).toBe('Erősítse meg az e-mail-címét');
    const signedIn = await login(email).expect(200);
    const bearer = { authorization: `Bearer ${signedIn.body.data.token}` };
    const user = await identity.http.get('/api/user').set(bearer).expect(200);
    expect(user.body.data.tenants).toMatchObject([
      {
        slug: expect.stringMatching(/^cafe-kovacs-co/),
        name: 'Café Kovács & Co.',
        is_active: true,
      },
    ]);
    const { tenant_id } = user.body.data;
    const members = await identity.http.get(`/api/tenants/${tenant_id}/members`).set(bearer);
    expect(members.body.data).toMatchObject([{ email, role: 'owner' }]);
    expect(await account(email)).toMatchObject({ locale: 'hu' });
    const { oAuthClient } = identity.context.database;
    expect(await oAuthClient.count({ where: { tenantId: tenant_id } })).toBe(1);
  });

  test('two tenants of one name have slugs of their own', async () => {
    const [first, second] = [address(), address()];
    await register(form(first, { tenant_name: 'Twins' })).expect(202);
    await register(form(second, { tenant_name: 'Twins' })).expect(202);
    await Promise.all([linkFor(first), linkFor(second)]);
    const slugs = await identity.context.database.tenant.findMany({ where: { name: 'Twins' } });
    expect(new Set(slugs.map(({ slug }) => slug)).size).toBe(2);
  });

  test('answers the same where the address is taken, and its holder is told by mail', async () => {
    const holder = await identity.people.user({ tenant });
    const email = holder.email ?? '';
    const free = await register(form(address(), { tenant_name: 'Free' })).expect(202);
    const taken = await register(form(email, { tenant_name: 'Taken' })).expect(202);
    expect(taken.body).toEqual(free.body);
    await mailbox.next('address_taken', email);
    expect(await identity.context.database.tenant.count({ where: { name: 'Taken' } })).toBe(0);
    const { status } = await identity.http
      .post('/api/auth/login')
      .send({ email, password: PASSWORD });
    expect(status).toBe(200);
  });

  test('answers after the same work, before anything is looked up or written', async () => {
    const email = address();
    await identity.context.database.$transaction(async (tx) => {
      await tx.$executeRaw`LOCK TABLE identity.users IN ACCESS EXCLUSIVE MODE`;
      await register(form(email, { tenant_name: 'Later' })).expect(202);
      expect(await mailbox.to(email)).toEqual([]);
    });
    await linkFor(email);
  });

  test('needs a tenant name, and takes no role', async () => {
    const without = await register(form(address())).expect(422);
    expect(Object.keys(without.body.errors)).toEqual(['tenant_name']);
    const body = form(address(), { tenant_name: 'X', role: 'owner' });
    expect(Object.keys((await register(body).expect(422)).body.errors)).toEqual(['role']);
  });
});

describe('the link that verifies an address', () => {
  const registered = async (): Promise<string> => {
    const email = address();
    await register(form(email, { tenant_name: 'Verified' })).expect(202);
    return email;
  };

  test('confirms it, and goes on saying so to whoever opens it again', async () => {
    const email = await registered();
    const token = await linkFor(email);
    await verify(token).expect(200);
    const { emailVerifiedAt } = await account(email);
    expect(emailVerifiedAt).toBeInstanceOf(Date);
    await verify(token).expect(200);
    expect((await account(email)).emailVerifiedAt).toEqual(emailVerifiedAt);
  });

  test('is refused with errors.token when it is unknown, expired or missing', async () => {
    const email = await registered();
    const token = await linkFor(email);
    const { database } = identity.context;
    await database.oneTimeToken.updateMany({ where: { email }, data: { expiresAt: new Date(0) } });
    for (const each of [token, 'nonsense', null]) {
      const answer = await verify(each).expect(422);
      expect(Object.keys(answer.body.errors)).toEqual(['token']);
    }
    expect((await account(email)).emailVerifiedAt).toBeNull();
  });

  test('is sent again on demand, at most five times an hour; the answer is always the same', async () => {
    const email = await registered();
    await linkFor(email);
    const known = await resend(email).expect(200);
    expect((await resend('nobody@example.test').expect(200)).body).toEqual(known.body);
    await verify(await linkFor(email, 2)).expect(200);
    expect((await resend(email).expect(200)).body).toEqual(known.body);

    const waiting = await registered();
    await linkFor(waiting);
    for (let asked = 0; asked < 8; asked += 1) await resend(waiting).expect(200);
    await linkFor(waiting, 6);
    const last = await registered();
    await linkFor(last);
    expect(await mailbox.to(waiting)).toHaveLength(6);
    expect(await mailbox.to(email)).toHaveLength(2);
    expect(await mailbox.to('nobody@example.test')).toEqual([]);
  });
});
