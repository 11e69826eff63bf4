import type { Tenant, User } from '../../generated/prisma/client.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import { collide } from '../../testing/locks.ts';
import { type Mailbox, openMailbox } from '../../testing/mailbox.ts';
import { type Bearer, PASSWORD } from '../../testing/population.ts';
import { serviceAccountsOf } from '../../testing/service-accounts.ts';
import { lockAddress } from '../../users/users.ts';

const NEW = 'Another-horse-8-battery';
const person = {
  first_name: 'Nora',
  last_name: 'Neu',
  password: NEW,
  password_confirmation: NEW,
};

let identity: TestIdentity;
let mailbox: Mailbox;
let tenant: Tenant;
let owner: User;
let bearer: Bearer;
let unique = 0;
beforeAll(async () => {
  mailbox = await openMailbox();
  identity = await startIdentity({ MAIL_DIRECTORY: mailbox.directory });
});
afterAll(async () => {
  await identity.stop();
  await mailbox.remove();
});
beforeEach(async () => {
  tenant = await identity.people.tenant({ name: 'Acme <Rocket> & Co' });
  owner = await identity.people.user({ tenant, role: 'owner' });
  bearer = await identity.people.signIn(owner);
});

const address = (): string => {
  unique += 1;
  return `invited-${unique}@example.test`;
};
const invite = (email: string, role = 'member', by: Bearer = bearer) =>
  identity.http.post(`/api/tenants/${tenant.id}/members`).set(by).send({ email, role });
const accept = (token: string, body: object = {}, by: Bearer | Record<string, string> = {}) =>
  identity.http
    .post('/api/auth/invitations/accept')
    .set(by)
    .send({ token, ...body });
const tokenFor = async (email: string, count = 1): Promise<string> =>
  (await mailbox.next('invitation', email, count)).link.searchParams.get('token') ?? '';
const invited = async (email: string, role?: string): Promise<string> => {
  await invite(email, role).expect(202);
  return tokenFor(email);
};
const member = async (email: string) => {
  const answer = await identity.http.get(`/api/tenants/${tenant.id}/members`).set(bearer);
  return answer.body.data.find((each: { email: string }) => each.email === email);
};
const verified = (): Promise<User> => identity.people.user();

describe('an invitation', () => {
  test('names the inviter, and shows their texts unchanged', async () => {
    const email = address();
    const answer = await invite(email).expect(202);
    expect(answer.body).toEqual({ success: true, message: expect.any(String) });
    const mail = await mailbox.next('invitation', email);
    expect(mail.text).toContain('Ada Tester has invited you to join Acme <Rocket> & Co.');
    expect(mail.link.pathname).toBe('/invitations/accept');
  });

  test('uses the inviter’s language, whatever their client requests', async () => {
    const { database } = identity.context;
    await database.user.update({ where: { id: owner.id }, data: { locale: 'hu' } });
    const email = address();
    await invite(email).set('accept-language', 'de').expect(202);
    expect((await mailbox.next('invitation', email)).text).toContain('Meghívó elfogadása');
  });

  test('of a system application uses the language of the tenant’s first owner', async () => {
    const { database } = identity.context;
    await database.user.update({ where: { id: owner.id }, data: { locale: 'de' } });
    const accounts = serviceAccountsOf(identity, tenant, bearer);
    const { key } = await accounts.key(await accounts.account('admin'));
    const email = address();
    await invite(email, 'member', { authorization: `Bearer ${key}` })
      .set('accept-language', 'hu')
      .expect(202);
    expect((await mailbox.next('invitation', email)).text).toContain('Einladung annehmen');
  });

  test('by a system administrator is in the log of the tenant', async () => {
    const { database } = identity.context;
    const administrator = await identity.people.user({ data: { isSystemAdmin: true } });
    const by = await identity.people.signIn(administrator);
    await invite(address(), 'member', by).expect(202);
    const noted = await database.activityEntry.findFirst({
      where: { userId: administrator.id, action: 'member_invited' },
    });
    expect(noted?.tenantId).toBe(tenant.id);
  });

  test('to an unknown tenant is 404', async () => {
    const administrator = await identity.people.user({ data: { isSystemAdmin: true } });
    const by = await identity.people.signIn(administrator);
    tenant = { ...tenant, id: '01890a5d-ac96-774b-bcce-b302099a8057' };
    await invite(address(), 'member', by).expect(404);
  });

  test('gets a 202 whether or not an account with the address exists', async () => {
    const known = await invite((await verified()).email ?? '').expect(202);
    const unknown = await invite(address()).expect(202);
    const already = await invite(owner.email ?? '').expect(202);
    expect(known.body).toEqual(unknown.body);
    expect(already.body).toEqual(unknown.body);
    // Its mail is sent after that of the member would have been.
    const last = address();
    await invite(last).expect(202);
    await tokenFor(last);
    expect(await mailbox.to(owner.email ?? '')).toEqual([]);
  });

  test('is recorded in the tenant’s log, whether or not the address has an account', async () => {
    const inactive = await identity.people.user({ data: { isActive: false } });
    const addresses = [address(), (await verified()).email, owner.email, inactive.email];
    for (const email of addresses) await invite(email ?? '').expect(202);
    const { activityEntry } = identity.context.database;
    const where = { userId: owner.id, action: 'member_invited' };
    expect(await activityEntry.count({ where })).toBe(addresses.length);
  });

  test('gets its response before anything is looked up', async () => {
    const email = address();
    await identity.context.database.$transaction(async (tx) => {
      await tx.$executeRaw`LOCK TABLE identity.one_time_tokens IN ACCESS EXCLUSIVE MODE`;
      await invite(email).expect(202);
      expect(await mailbox.to(email)).toEqual([]);
    });
    await tokenFor(email);
  });

  test('does not turn names of people and tenants into links', async () => {
    const where = { id: tenant.id };
    const name = 'Prize at evil.example/win';
    await identity.context.database.tenant.update({ where, data: { name } });
    const named = { firstName: 'www.evil.example', lastName: 'evil.example' };
    const inviter = await identity.people.user({ tenant, role: 'owner', data: named });
    const email = address();
    await invite(email, 'member', await identity.people.signIn(inviter)).expect(202);
    const mail = await mailbox.next('invitation', email);
    expect(mail.subject + mail.text).not.toContain('evil.example');
    expect(mail.text.replaceAll('\u2060', '')).toContain('evil.example');
  });

  test('is mailed to an address a few times an hour, whichever tenants and routes send it', async () => {
    const strict = await startIdentity({ RATE_LIMIT_MAIL: '3', MAIL_DIRECTORY: mailbox.directory });
    try {
      const email = address();
      const next = address();
      for (const invited of [email, email, email, next]) {
        const own = await strict.people.tenant();
        const owner = await strict.people.user({ tenant: own, role: 'owner' });
        const by = await strict.people.signIn(owner);
        const member = { email: invited.toUpperCase(), role: 'member' };
        await strict.http.post(`/api/tenants/${own.id}/members`).set(by).send(member).expect(202);
        const registered = { first_name: 'Nora', last_name: 'Neu', email: invited };
        await strict.http.post('/api/auth/register').set(by).send(registered).expect(202);
      }
      await mailbox.next('invitation', email, 3);
      await mailbox.next('invitation', next, 2);
      expect(await mailbox.to(email)).toHaveLength(3);
      const { database } = strict.context;
      const where = { purpose: 'invitation', email };
      expect(await database.oneTimeToken.count({ where })).toBe(3);
    } finally {
      await strict.stop();
    }
  });

  test('has names without invisible characters in its subject, text and HTML', async () => {
    const name = 'Ac\u200bme \u202etset.live\u202c\u2066';
    const own = await identity.people.tenant({ name });
    const data = { firstName: '\u2067Ann\ufeffa\u202e', lastName: 'An\u00addor' };
    const inviter = await identity.people.user({ tenant: own, role: 'owner', data });
    const email = address();
    const by = await identity.people.signIn(inviter);
    const members = `/api/tenants/${own.id}/members`;
    await identity.http.post(members).set(by).send({ email, role: 'member' }).expect(202);
    const { subject, text } = await mailbox.next('invitation', email);
    expect(subject).toBe('You are invited to join Acme tset.\u2060live');
    expect(text).toContain('Anna Andor has invited you to join Acme tset.\u2060live.');
  });

  test('is limited per day and tenant: then 429', async () => {
    const strict = await startIdentity({ RATE_LIMIT_INVITATIONS: '2' });
    const own = await strict.people.tenant();
    const by = await strict.people.caller(own, '*');
    const send = (email: string) =>
      strict.http.post(`/api/tenants/${own.id}/members`).set(by).send({ email, role: 'member' });
    await send(address()).expect(202);
    await send(address()).expect(202);
    const refused = await send(address()).expect(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    await strict.stop();
  });

  test('cannot grant a role that exceeds the inviter’s permissions, or one of another tenant', async () => {
    const by = await identity.people.caller(tenant, 'identity.members.create');
    const other = await identity.people.tenant();
    const foreign = await identity.context.database.role.create({
      data: { tenantId: other.id, name: 'foreign' },
    });
    for (const role of ['owner', 'viewer', foreign.name]) {
      const answer = await invite(address(), role, by).expect(422);
      expect(Object.keys(answer.body.errors)).toEqual(['role']);
    }
  });

  test('voids the previous one, and at most five per hour reach one address', async () => {
    const email = address();
    const first = await invited(email);
    await invite(email).expect(202);
    const second = await tokenFor(email, 2);
    await accept(first, person).expect(422);
    for (let index = 0; index < 6; index += 1) await invite(email).expect(202);
    const last = await tokenFor(email, 5);
    await accept(second, person).expect(422);
    await accept(last, person).expect(200);
    await invited(address());
    expect(await mailbox.to(email)).toHaveLength(5);
  });
});

describe('accepting it', () => {
  test('creates an account with a confirmed address if there is none', async () => {
    const email = address();
    const token = await invited(email, 'viewer');
    const answer = await accept(token, person).expect(200);
    const { id, slug, name } = tenant;
    expect(answer.body).toEqual({ success: true, data: { tenant: { id, slug, name } } });
    expect(await member(email)).toMatchObject({ role: 'viewer', name: 'Nora Neu' });
    const signedIn = await identity.http
      .post('/api/auth/login')
      .send({ email, password: NEW })
      .expect(200);
    const me = await identity.http
      .get('/api/me')
      .set('authorization', `Bearer ${signedIn.body.data.token}`);
    expect(me.body.data).toMatchObject({
      tenant_id: tenant.id,
      email_verified_at: expect.any(String),
    });
  });

  test('adds an existing account to the tenant without changing it and without signing in', async () => {
    const user = await verified();
    const token = await invited(user.email ?? '');
    const answer = await accept(token, person, await identity.people.signIn(user)).expect(200);
    expect(answer.headers['set-cookie']).toBeUndefined();
    expect(await member(user.email ?? '')).toMatchObject({ role: 'member', name: 'Ada Tester' });
    await identity.people.signIn(user);
  });

  test('for an existing account requires a sign-in to that account', async () => {
    const user = await verified();
    const token = await invited(user.email ?? '');
    const nobody = await accept(token, person).expect(401);
    expect(nobody.body.error).toBe('unauthenticated');
    await accept(token, person, { authorization: 'Bearer nonsense' }).expect(401);
    const other = await accept(token, person, bearer).expect(403);
    expect(other.body.error).toBe('invitation_forbidden');
    expect(await member(user.email ?? '')).toBeUndefined();
    await accept(token, {}, await identity.people.signIn(user)).expect(200);
  });

  test('also requires the second factor', async () => {
    const user = await verified();
    await identity.people.enableTwoFactor(user, await identity.people.signIn(user));
    const token = await invited(user.email ?? '');
    const answer = await accept(token, {}, await identity.people.signIn(user)).expect(403);
    expect(answer.body.error).toBe('two_factor_required');
  });

  test('gives an account with an unconfirmed address to the recipient of the mail', async () => {
    const squatter = await identity.people.user({
      tenant: await identity.people.tenant(),
      data: { emailVerifiedAt: null },
    });
    const session = await identity.people.signIn(squatter);
    const { database } = identity.context;
    await database.pin.create({ data: { userId: squatter.id, hash: 'x' } });
    await database.twoFactor.create({
      data: { userId: squatter.id, sealedSecret: new Uint8Array(1), confirmedAt: new Date() },
    });
    const token = await invited(squatter.email ?? '');
    const missing = await accept(token).expect(422);
    expect(Object.keys(missing.body.errors)).toEqual(['password']);
    const { password, password_confirmation } = person;
    await accept(token, { password, password_confirmation }).expect(200);
    await identity.http.get('/api/me').set(session).expect(401);
    const login = (password: string) =>
      identity.http.post('/api/auth/login').send({ email: squatter.email, password });
    await login(PASSWORD).expect(401);
    const answer = await login(NEW).expect(200);
    expect(answer.body.data).toMatchObject({ requires_pin: false, requires_2fa: false });
  });

  test('confirms only the invited address, even if the address of the account changes concurrently', async () => {
    const squatter = await identity.people.user({ data: { emailVerifiedAt: null } });
    const { id, email } = squatter;
    const token = await invited(email ?? '');
    const { password, password_confirmation } = person;
    const other = address();
    const { database } = identity.context;
    const accepting = () => accept(token, { password, password_confirmation });
    const { status } = await collide(database, accepting, {
      hold: (tx) => lockAddress(tx, email ?? ''),
      change: (tx) => tx.user.update({ where: { id }, data: { email: other } }),
    });
    expect(status).toBe(409);
    const user = await database.user.findUniqueOrThrow({ where: { id } });
    expect(user).toMatchObject({ email: other, emailVerifiedAt: null });
    // The next attempt creates a new account with the invited address.
    await accept(token, person).expect(200);
    expect(await member(email ?? '')).toBeDefined();
  });

  test('names all missing and invalid fields, and the invitation stays valid', async () => {
    const email = address();
    const token = await invited(email);
    const empty = await accept(token).expect(422);
    expect(Object.keys(empty.body.errors).sort()).toEqual(['first_name', 'last_name', 'password']);
    const weak = await accept(token, { ...person, password: 'short' }).expect(422);
    expect(weak.body.errors.password).toHaveLength(5);
    await accept(token, person).expect(200);
  });

  test('increments the version and publishes the change', async () => {
    const user = await verified();
    const token = await invited(user.email ?? '');
    const { database } = identity.context;
    const versionOf = async () =>
      Number(
        (await database.policyVersion.findUnique({ where: { tenantId: tenant.id } }))?.version,
      );
    const before = await versionOf();
    await accept(token, {}, await identity.people.signIn(user)).expect(200);
    expect(await versionOf()).toBe(before + 1);
    const events = await database.outboxEvent.findMany({ where: { key: tenant.id } });
    expect(events).toMatchObject([
      {
        topic: 'identity.policy.updated',
        payload: { data: { tenant_id: tenant.id, version: before + 1, user_ids: [user.id] } },
      },
    ]);
    const entries = await database.activityEntry.findMany({ where: { userId: user.id } });
    expect(entries.map(({ action }) => action)).toContain('invitation_accepted');
  });

  test('works once, also for ten concurrent requests', async () => {
    const token = await invited(address());
    const answers = await Promise.all(Array.from({ length: 10 }, () => accept(token, person)));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses[0]).toBe(200);
    // 401, because the address then has an account.
    expect(statuses.slice(1).every((status) => [401, 409, 422].includes(status))).toBe(true);
    await accept(token, person).expect(422);
  });

  test('changes nothing for an existing member', async () => {
    const user = await verified();
    const token = await invited(user.email ?? '', 'admin');
    await identity.people.join(user, tenant, await identity.people.builtInRole('viewer'));
    await accept(token, {}, await identity.people.signIn(user)).expect(200);
    expect(await member(user.email ?? '')).toMatchObject({ role: 'viewer' });
  });

  test('is rejected if it has expired or the role was deleted', async () => {
    const { database } = identity.context;
    const [late, roleless] = [address(), address()];
    const expired = await invited(late);
    await database.oneTimeToken.updateMany({
      where: { email: late },
      data: { expiresAt: new Date(0) },
    });
    const role = await database.role.create({ data: { tenantId: tenant.id, name: 'short-lived' } });
    const orphan = await invited(roleless, role.name);
    await database.role.delete({ where: { id: role.id } });
    for (const token of [expired, orphan, 'nonsense', '']) {
      const answer = await accept(token, person).expect(422);
      expect(Object.keys(answer.body.errors)).toEqual(['token']);
    }
  });

  test('is rejected if the inviter has left, may no longer invite or lacks a permission of the role', async () => {
    const { database } = identity.context;
    const inviter = async () => {
      const user = await identity.people.user({ tenant, role: 'admin' });
      const email = address();
      await invite(email, 'admin', await identity.people.signIn(user)).expect(202);
      return { user, where: { tenantId_userId: { tenantId: tenant.id, userId: user.id } }, email };
    };
    const [left, demoted, deactivated, unchanged] = [
      await inviter(),
      await inviter(),
      await inviter(),
      await inviter(),
    ];
    await database.membership.delete({ where: left.where });
    await database.membership.update({
      where: demoted.where,
      data: { roleId: await identity.people.builtInRole('viewer') },
    });
    await database.user.update({ where: { id: deactivated.user.id }, data: { isActive: false } });
    for (const { email } of [left, demoted, deactivated]) {
      const answer = await accept(await tokenFor(email), person).expect(422);
      expect(Object.keys(answer.body.errors)).toEqual(['token']);
      expect(await database.user.count({ where: { email } })).toBe(0);
    }
    await accept(await tokenFor(unchanged.email), person).expect(200);
  });

  test.each([
    ['suspended', 'The tenant is suspended.'],
    ['provisioning', 'The tenant is still being set up. Try again later.'],
    ['failed', 'The tenant could not be set up yet. Try again later.'],
    ['deleting', 'The tenant is being deleted.'],
  ])(
    'cannot be accepted while the tenant is %s, which the message says',
    async (status, message) => {
      const token = await invited(address());
      const { database } = identity.context;
      const set = (status: string) =>
        database.tenant.update({ where: { id: tenant.id }, data: { status } });
      await set(status);
      // Before anything that was given is checked.
      for (const given of [person, {}]) {
        const { body } = await accept(token, given).expect(403);
        expect(body).toMatchObject({ error: 'tenant_suspended', message });
      }
      await set('active');
      await accept(token, person).expect(200);
    },
  );

  test('is not accepted if the tenant is suspended meanwhile', async () => {
    const email = address();
    const token = await invited(email);
    const { database } = identity.context;
    const { status, body } = await collide(database, () => accept(token, person), {
      hold: (tx) => lockAddress(tx, email),
      change: (tx) => tx.tenant.update({ where: { id: tenant.id }, data: { status: 'suspended' } }),
    });
    expect([status, body.error]).toEqual([403, 'tenant_suspended']);
    expect(await database.user.count({ where: { email } })).toBe(0);
  });
});
