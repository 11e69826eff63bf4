import type { Tenant } from '../../generated/prisma/client.ts';
import { cookiesOf } from '../../testing/cookies.ts';
import { startIdentity } from '../../testing/identity.ts';
import { type Bearer, PASSWORD } from '../../testing/population.ts';
import { startRegistration } from '../../testing/registration.ts';

const NEW = 'Another-horse-8-battery';

const { identity, mailbox } = await startRegistration();
let tenant: Tenant;
let unique = 0;
beforeEach(async () => {
  tenant = await identity.people.tenant();
});

const address = (): string => {
  unique += 1;
  return `new-${unique}@example.test`;
};
const names = { first_name: 'Nora', last_name: 'Neu' };
const form = (email: string, more: object = {}) => ({
  ...names,
  email,
  password: NEW,
  password_confirmation: NEW,
  tenant_name: 'Neu',
  ...more,
});
const register = (body: object, headers: object = {}) =>
  identity.http
    .post('/api/auth/register')
    .set(headers as Bearer)
    .send(body);
const login = (email: string, password = NEW) =>
  identity.http.post('/api/auth/login').send({ email, password });
const resend = (email: string) => identity.http.post('/api/auth/email/resend').send({ email });
const linkFor = async (email: string, count = 1): Promise<string> =>
  (await mailbox.next('email_verification', email, count)).link.searchParams.get('token') ?? '';
const database = () => identity.context.database;

describe('register with a token that has identity.users.create', () => {
  const owner = () => identity.people.caller(tenant, '*');
  const invitation = (email: string, more: object = {}) => ({ ...names, email, ...more });

  test('sends an invitation: the user chooses the password, and the names are suggested', async () => {
    const email = address();
    const answer = await register(invitation(email, { role: 'viewer' }), await owner()).expect(202);
    expect(answer.body).toEqual({ success: true, message: expect.any(String) });
    expect(await database().user.count({ where: { email } })).toBe(0);
    const { link } = await mailbox.next('invitation', email);
    const page = await identity.http.get(`${link.pathname}${link.search}`).expect(200);
    expect(page.text).toContain('value="Nora"');
    expect(page.text).toContain('value="Neu"');
    const accepted = {
      ...names,
      token: link.searchParams.get('token'),
      password: NEW,
      password_confirmation: NEW,
    };
    await identity.http.post('/api/auth/invitations/accept').send(accepted).expect(200);
    await login(email).expect(200);
    const members = await identity.http.get(`/api/tenants/${tenant.id}/members`).set(await owner());
    expect(members.body.data).toContainEqual(
      expect.objectContaining({ email, name: 'Nora Neu', role: 'viewer' }),
    );
  });

  test('can be accepted if the inviter has only that permission', async () => {
    const bearer = await identity.people.caller(tenant, 'identity.users.create');
    const { id: tenantId } = tenant;
    await database().role.create({ data: { tenantId, name: 'nothing' } });
    const email = address();
    await register(invitation(email, { role: 'nothing' }), bearer).expect(202);
    const { link } = await mailbox.next('invitation', email);
    const token = link.searchParams.get('token');
    const accepted = { ...names, token, password: NEW, password_confirmation: NEW };
    await identity.http.post('/api/auth/invitations/accept').send(accepted).expect(200);
  });

  test('gives the same response whether or not an account has the address', async () => {
    const bearer = await owner();
    const elsewhere = await identity.people.tenant();
    const known = await identity.people.user({ tenant: elsewhere });
    const inactive = await identity.people.user({ data: { isActive: false } });
    const member = await identity.people.user({ tenant });
    const free = await register(invitation(address()), bearer).expect(202);
    for (const { email } of [known, inactive, member]) {
      const answer = await register(invitation(email ?? ''), bearer).expect(202);
      expect(answer.body).toEqual(free.body);
      expect(answer.headers['set-cookie']).toBeUndefined();
    }
    await mailbox.next('invitation', known.email ?? '');
    await login(known.email ?? '', PASSWORD).expect(200);
  });

  test.each(['password', 'password_confirmation', 'tenant_name'])('takes no %s', async (field) => {
    const body = invitation(address(), { [field]: NEW });
    const answer = await register(body, await owner()).expect(422);
    expect(Object.keys(answer.body.errors)).toEqual([field]);
  });

  test('rejects unknown roles and roles that exceed the caller’s permissions', async () => {
    const bearer = await identity.people.caller(tenant, 'identity.users.create');
    const refused: string[] = [];
    for (const role of ['owner', 'viewer', 'no-such-role']) {
      const email = address();
      const answer = await register(invitation(email, { role }), bearer).expect(422);
      expect(Object.keys(answer.body.errors)).toEqual(['role']);
      refused.push(email);
    }
    // A later mail has arrived, so theirs would have arrived as well.
    const admitted = address();
    await register(invitation(admitted), await owner()).expect(202);
    await mailbox.next('invitation', admitted);
    for (const email of refused) expect(await mailbox.to(email)).toEqual([]);
  });

  test('rejects a caller without the permission or without a valid token', async () => {
    const viewer = await identity.people.caller(tenant, 'identity.members.list');
    const refused = await register(invitation(address()), viewer).expect(403);
    expect(refused.body.required_permission).toBe('identity.users.create');
    await register(invitation(address()), { authorization: 'Bearer nonsense' }).expect(401);
  });
});

describe('register without a token', () => {
  test('is rejected with 401 unless REGISTRATION_ENABLED is set', async () => {
    const closed = await startIdentity();
    await closed.http.post('/api/auth/register').send(form(address())).expect(401);
    await closed.http.post('/api/auth/register').send({}).expect(401);
    const owner = await closed.people.caller(await closed.people.tenant(), '*');
    const body = { ...names, email: address() };
    await closed.http.post('/api/auth/register').set(owner).send(body).expect(202);
    await closed.stop();
  });

  test('creates an account that can only confirm its address', async () => {
    const email = address();
    await register(form(email.toUpperCase()), { 'accept-language': 'hu' }).expect(202);
    const mail = await mailbox.next('email_verification', email);
    expect(mail.subject).toBe('Erősítse meg az e-mail-címét');
    const { token } = (await login(email).expect(200)).body.data;
    const bearer = { authorization: `Bearer ${token}` };
    const me = await identity.http.get('/api/me').set(bearer).expect(200);
    expect(me.body.data).toMatchObject({ email, tenant_id: null, email_verified_at: null });
    for (const path of ['/api/user', '/api/profile', '/api/me/security', '/api/devices']) {
      const answer = await identity.http.get(path).set(bearer).expect(403);
      expect(answer.body.error).toBe('email_verification_required');
    }
    const members = `/api/tenants/${tenant.id}/members`;
    const sent = await identity.http.post(members).set(bearer).send({ email: address() });
    expect(sent.status).toBe(403);
    await identity.http.post('/api/auth/refresh').set(bearer).expect(200);
  });

  test('creates no tenant before the address is confirmed', async () => {
    const email = address();
    await register(form(email, { tenant_name: `Of ${email}` })).expect(202);
    await linkFor(email);
    expect(await database().tenant.count({ where: { name: `Of ${email}` } })).toBe(0);
  });

  test('does not include text of the registration in the mails', async () => {
    const email = address();
    const text = 'Win at evil.example';
    await register(form(email, { first_name: text, tenant_name: text })).expect(202);
    await linkFor(email);
    await login(email).expect(200);
    await login(email).set('user-agent', text).expect(200);
    await identity.http.post('/api/auth/password/forgot').send({ email }).expect(200);
    await mailbox.next('password_reset', email);
    const mails = await mailbox.to(email);
    expect(mails.map(({ kind }) => kind)).toEqual(['email_verification', 'password_reset']);
    for (const mail of mails) expect(mail.subject + mail.text).not.toContain('Win');
  });

  describe('if another account has confirmed the address', () => {
    const registered = async () => {
      const holder = await identity.people.user({ tenant });
      const email = holder.email ?? '';
      const taken = await register(form(email)).expect(202);
      await mailbox.next('address_taken', email);
      return { email, taken };
    };
    const shapeOf = (answer: { headers: Record<string, unknown>; body: object }) => ({
      body: answer.body,
      cookies: String(answer.headers['set-cookie']).replace(/=[\w-]{43};|Expires=[^;]*/g, ''),
    });

    test('gives the same response, with the same kind of cookie', async () => {
      const { taken } = await registered();
      const free = await register(form(address())).expect(202);
      expect(shapeOf(taken)).toEqual(shapeOf(free));
      expect(cookiesOf(free).confirmation ?? cookiesOf(free)['__Host-confirmation']).toBeDefined();
    });

    test('notifies the holder, whose account and password stay unchanged', async () => {
      const { email } = await registered();
      await login(email, PASSWORD).expect(200);
      expect((await mailbox.to(email)).map(({ kind }) => kind)).toEqual(['address_taken']);
    });

    test('mails no link that confirms the address, until the account has left it', async () => {
      const { email } = await registered();
      const before = await mailbox.to(email);
      expect(before.map(({ text }) => text).join()).not.toContain('token');
      const where = { email, emailVerifiedAt: { not: null } };
      await database().user.updateMany({ where, data: { email: address() } });
      await resend(email).expect(200);
      const token = await linkFor(email);
      const password = { password: NEW, password_confirmation: NEW };
      await identity.http
        .post('/api/auth/email/verify')
        .send({ token, ...password })
        .expect(200);
    });

    test('shows the usual pages to the new user, and nothing of the holder', async () => {
      const { email } = await registered();
      const signedIn = await login(email).expect(200);
      const bearer = { authorization: `Bearer ${signedIn.body.data.token}` };
      const me = await identity.http.get('/api/me').set(bearer).expect(200);
      expect(me.body.data).toMatchObject({ name: 'Nora Neu', tenant_id: null });
      await identity.http.get('/api/user').set(bearer).expect(403);
      await resend(email).expect(200);
      await mailbox.next('address_taken', email, 2);
    });
  });

  test('responds after the same work, before anything is looked up or written', async () => {
    const email = address();
    await database().$transaction(async (tx) => {
      await tx.$executeRaw`LOCK TABLE identity.users IN ACCESS EXCLUSIVE MODE`;
      await register(form(email)).expect(202);
      expect(await mailbox.to(email)).toEqual([]);
    });
    await linkFor(email);
  });

  test('requires a password and a tenant name, names every violated password rule, and accepts no role', async () => {
    const without = await register({ ...names, email: address(), role: 'owner' }).expect(422);
    expect(Object.keys(without.body.errors).sort()).toEqual([
      'password',
      'password_confirmation',
      'role',
      'tenant_name',
    ]);
    const weak = { password: 'short', password_confirmation: 'shorter' };
    const answer = await register(form(address(), weak)).expect(422);
    expect(answer.body.errors.password).toHaveLength(5);
    expect(answer.body.errors.password_confirmation).toHaveLength(1);
    const body = form(address(), { role: 'owner' });
    expect(Object.keys((await register(body).expect(422)).body.errors)).toEqual(['role']);
    await register(form('ada lovelace@example.test')).expect(422);
  });
});

describe('another link', () => {
  test('is sent on request, at most five times an hour; the response is always the same', async () => {
    const email = address();
    await register(form(email)).expect(202);
    await linkFor(email);
    const known = await resend(email).expect(200);
    expect((await resend('nobody@example.test').expect(200)).body).toEqual(known.body);
    for (let asked = 0; asked < 8; asked += 1) await resend(email).expect(200);
    await linkFor(email, 5);
    const last = address();
    await register(form(last)).expect(202);
    await linkFor(last);
    expect(await mailbox.to(email)).toHaveLength(5);
    expect(await mailbox.to('nobody@example.test')).toEqual([]);
  });
});

describe('correcting the address of an unconfirmed account', () => {
  const change = (email: string, bearer: Bearer) =>
    identity.http.put('/api/auth/email').set(bearer).send({ email });
  const waiting = async () => {
    const email = address();
    await register(form(email)).expect(202);
    const token = await linkFor(email);
    const signedIn = await login(email).expect(200);
    return { email, token, bearer: { authorization: `Bearer ${signedIn.body.data.token}` } };
  };

  test('sends the link to the new address and invalidates the old one', async () => {
    const { token, bearer } = await waiting();
    const right = address();
    await change(right, bearer).expect(202);
    const me = await identity.http.get('/api/me').set(bearer).expect(200);
    expect(me.body.data.email).toBe(right);
    const post = (body: object) =>
      identity.http.post('/api/auth/email/verify').set(bearer).send(body);
    await post({ token }).expect(422);
    await post({ token: await linkFor(right) }).expect(200);
    await login(right).expect(200);
  });

  test('gives the same response and pages if another account has the address', async () => {
    const { bearer } = await waiting();
    const { email } = await identity.people.user();
    const taken = await change(email ?? '', bearer).expect(202);
    const me = await identity.http.get('/api/me').set(bearer).expect(200);
    expect(me.body.data.email).toBe(email);
    await mailbox.next('address_taken', email ?? '');
    const free = await change(address(), bearer).expect(202);
    expect(taken.body).toEqual(free.body);
  });

  test('is possible five times an hour, and not after the address is confirmed', async () => {
    const { bearer } = await waiting();
    for (let changed = 0; changed < 5; changed += 1) await change(address(), bearer).expect(202);
    await change(address(), bearer).expect(429);
    const confirmed = await identity.people.signIn(await identity.people.user());
    expect((await change(address(), confirmed).expect(409)).body.error).toBe('conflict');
  });
});
