import { until } from '@tessera/local-stack';
import { startHousekeeping } from '../../background/housekeeping.ts';
import { cookiesOf } from '../../testing/cookies.ts';
import { PASSWORD } from '../../testing/population.ts';
import { startRegistration } from '../../testing/registration.ts';

const NEW = 'Another-horse-8-battery';
const OWN = 'My-own-horse-9-battery';
const own = { password: OWN, password_confirmation: OWN };

const { identity, mailbox } = await startRegistration();
let unique = 0;

const database = () => identity.context.database;
const address = (): string => {
  unique += 1;
  return `claimed-${unique}@example.test`;
};
const linkFor = async (email: string, count = 1): Promise<string> =>
  (await mailbox.next('email_verification', email, count)).link.searchParams.get('token') ?? '';

/** Registers in a separate browser; returns its cookie and the token of the mail. */
const register = async (email: string, more: object = {}, count = 1) => {
  const form = {
    first_name: 'Nora',
    last_name: 'Neu',
    email,
    password: NEW,
    password_confirmation: NEW,
    tenant_name: `Tenant of ${email}`,
    ...more,
  };
  const answer = await identity.http.post('/api/auth/register').send(form).expect(202);
  const cookie = Object.entries(cookiesOf(answer))
    .map(([name, value]) => `${name}=${value}`)
    .join('; ');
  return { browser: { cookie }, token: await linkFor(email, count) };
};
const verify = (body: object, headers: Record<string, string> = {}) =>
  identity.http.post('/api/auth/email/verify').set(headers).send(body);
const login = (email: string, password: string) =>
  identity.http.post('/api/auth/login').send({ email, password });
const signedIn = async (email: string, password: string) => {
  const answer = await login(email, password).expect(200);
  return { authorization: `Bearer ${answer.body.data.token}` };
};
const tenantsOf = async (bearer: Record<string, string>) =>
  (await identity.http.get('/api/user').set(bearer).expect(200)).body.data.tenants;

/** Waits until a request waits for a lock. */
const someoneWaits = () =>
  until(async () => {
    const [found] = await database().$queryRaw<{ count: number }[]>`
      SELECT count(*)::int AS count FROM pg_locks l JOIN pg_stat_activity a USING (pid)
      WHERE NOT l.granted AND a.datname = current_database()`;
    return (found?.count ?? 0) > 0;
  });

describe('the link that confirms an address', () => {
  test('has no side effects when opened', async () => {
    const email = address();
    const { token, browser } = await register(email);
    for (const path of ['/api/auth/email/verify', '/email/verify']) {
      await identity.http.get(path).query({ token }).set(browser).expect(200);
      await identity.http.get(path).query({ token }).expect(200);
    }
    const user = await database().user.findFirstOrThrow({ where: { email } });
    expect(user.emailVerifiedAt).toBeNull();
  });

  test('asks for nothing in the browser that registered, and for a new password elsewhere', async () => {
    const email = address();
    const { token, browser } = await register(email);
    const ask = (headers: Record<string, string>) =>
      identity.http.get('/api/auth/email/verify').query({ token }).set(headers).expect(200);
    expect((await ask(browser)).body.data).toEqual({
      email,
      is_confirmed: false,
      asks: 'nothing',
      first_name: 'Nora',
      last_name: 'Neu',
      tenant_name: `Tenant of ${email}`,
    });
    expect((await ask({})).body.data.asks).toBe('password');
  });

  test('confirms in the browser that registered, keeps sessions and password, and creates the tenant', async () => {
    const email = address();
    const { token, browser } = await register(email);
    const bearer = await signedIn(email, NEW);
    await verify({ token }, browser).expect(200);
    await identity.http.get('/api/me').set(bearer).expect(200);
    const [tenant] = await tenantsOf(await signedIn(email, NEW));
    expect(tenant).toMatchObject({ name: `Tenant of ${email}`, is_active: true });
    const clients = await database().oAuthClient.count({ where: { tenantId: tenant.id } });
    expect(clients).toBe(1);
    const events = await database().outboxEvent.findMany({ where: { key: tenant.id } });
    expect(events.map(({ topic }) => topic).sort()).toEqual([
      'identity.policy.updated',
      'identity.tenant.status_changed',
    ]);
    // And repeatedly.
    await verify({ token }, browser).expect(200);
    await verify({ token }).expect(200);
  });

  test('reports no success for a new password once the address is confirmed in another tab', async () => {
    const email = address();
    const { token, browser } = await register(email);
    await verify({ token }, browser).expect(200);
    const answer = await verify({ token, ...own }).expect(422);
    expect(Object.keys(answer.body.errors)).toEqual(['token']);
    await login(email, NEW).expect(200);
  });

  test('confirms in any browser that is signed in to the account', async () => {
    const email = address();
    const { token } = await register(email);
    const bearer = await signedIn(email, NEW);
    await verify({ token }, bearer).expect(200);
    await login(email, NEW).expect(200);
  });

  test('does not confirm in a browser that is signed in to another account', async () => {
    const email = address();
    const { token } = await register(email);
    const other = await identity.people.signIn(await identity.people.user());
    const answer = await verify({ token }, other).expect(422);
    expect(Object.keys(answer.body.errors)).toEqual(['password']);
  });

  test('takes over an account that somebody else registered with the address', async () => {
    const email = address();
    const attacker = await register(email, { first_name: 'Eve' });
    const session = await signedIn(email, NEW);
    const { id } = await database().user.findFirstOrThrow({ where: { email } });
    // Created before such accounts were restricted.
    const userId = id;
    await database().pin.create({ data: { userId, hash: 'x' } });
    const sealedSecret = new Uint8Array(1);
    const confirmedAt = new Date();
    await database().twoFactor.create({ data: { userId, sealedSecret, confirmedAt } });

    const missing = await verify({ token: attacker.token }).expect(422);
    expect(Object.keys(missing.body.errors)).toEqual(['password']);
    const details = { first_name: 'Vera', last_name: 'Victim', tenant_name: 'Vera & Co' };
    await verify({ token: attacker.token, ...own, ...details }).expect(200);

    await login(email, NEW).expect(401);
    await identity.http.get('/api/me').set(session).expect(401);
    await identity.http.post('/api/auth/refresh').set(session).expect(401);
    expect(await database().device.count({ where: { userId } })).toBe(0);
    const mine = await login(email, OWN).expect(200);
    expect(mine.body.data).toMatchObject({ requires_2fa: false, requires_pin: false });
    const bearer = { authorization: `Bearer ${mine.body.data.token}` };
    expect(await tenantsOf(bearer)).toMatchObject([{ name: 'Vera & Co' }]);
    const me = await identity.http.get('/api/me').set(bearer).expect(200);
    expect(me.body.data.name).toBe('Vera Victim');
  });

  test('names every broken rule of the new password, and stays valid', async () => {
    const { token } = await register(address());
    const weak = { password: 'short', password_confirmation: 'shorter' };
    const answer = await verify({ token, ...weak }).expect(422);
    expect(answer.body.errors.password).toHaveLength(5);
    expect(answer.body.errors.password_confirmation).toHaveLength(1);
    await verify({ token, ...own }).expect(200);
  });

  test('deletes the account if the recipient did not register it', async () => {
    const email = address();
    const { token, browser } = await register(email);
    const session = await signedIn(email, NEW);
    const disown = () => identity.http.post('/api/auth/email/disown').send({ token });
    await disown().expect(200);
    await login(email, NEW).expect(401);
    await identity.http.get('/api/me').set(session).expect(401);
    await verify({ token }, browser).expect(422);
    await disown().expect(422);
    expect(await database().user.count({ where: { email } })).toBe(0);
  });

  test('keeps a tenant member’s account if the recipient did not register it, and signs it out everywhere', async () => {
    const tenant = await identity.people.tenant();
    const data = { emailVerifiedAt: null };
    const user = await identity.people.user({ tenant, role: 'owner', data });
    const email = user.email ?? '';
    const session = await identity.people.signIn(user);
    await identity.http.post('/api/auth/email/resend').send({ email }).expect(200);
    const token = await linkFor(email);
    const answer = await identity.http.post('/api/auth/email/disown').send({ token }).expect(200);
    expect(answer.body.message).toContain('must confirm another address');
    await identity.http.get('/api/me').set(session).expect(401);
    await verify({ token, ...own }).expect(422);
    const where = { tenantId: tenant.id, userId: user.id };
    expect(await database().membership.count({ where })).toBe(1);
    const bearer = await signedIn(email, PASSWORD);
    const right = address();
    await identity.http.put('/api/auth/email').set(bearer).send({ email: right }).expect(202);
    await verify({ token: await linkFor(right) }, bearer).expect(200);
    expect(await tenantsOf(bearer)).toMatchObject([{ id: tenant.id }]);
  });

  test('deletes no account whose address is confirmed', async () => {
    const email = address();
    const { token, browser } = await register(email);
    await verify({ token }, browser).expect(200);
    await identity.http.post('/api/auth/email/disown').send({ token }).expect(422);
    await login(email, NEW).expect(200);
  });

  test('is refused with errors.token when it is unknown, expired or missing', async () => {
    const email = address();
    const { token, browser } = await register(email);
    await database().oneTimeToken.updateMany({
      where: { email },
      data: { expiresAt: new Date(0) },
    });
    for (const each of [token, 'nonsense', '']) {
      const answer = await verify({ token: each }, browser).expect(422);
      expect(Object.keys(answer.body.errors)).toEqual(['token']);
    }
    await identity.http.get('/api/auth/email/verify').expect(422);
  });

  test('works once, also for ten concurrent requests', async () => {
    const email = address();
    const { token } = await register(email);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => {
        const password = `${OWN}-${index}`;
        return verify({ token, password, password_confirmation: password });
      }),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.every((status) => [200, 422, 409].includes(status))).toBe(true);
    expect(await database().tenant.count({ where: { name: `Tenant of ${email}` } })).toBe(1);
    const signIns: number[] = [];
    for (const index of answers.keys())
      signIns.push((await login(email, `${OWN}-${index}`)).status);
    expect(signIns.filter((status) => status === 200)).toHaveLength(1);
    expect(signIns.indexOf(200)).toBe(statuses.indexOf(200));
  });

  test('confirms for each of ten concurrent requests of the browser that registered', async () => {
    const { token, browser } = await register(address());
    const answers = await Promise.all(Array.from({ length: 10 }, () => verify({ token }, browser)));
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
  });

  test('confirms, or deletes, but not both at the same time', async () => {
    const email = address();
    const { token, browser } = await register(email);
    const [confirmed, deleted] = await Promise.all([
      verify({ token }, browser),
      identity.http.post('/api/auth/email/disown').send({ token }),
    ]);
    expect([confirmed.status, deleted.status].sort()).toEqual([200, 422]);
    const left = await database().user.count({ where: { email } });
    expect(left).toBe(confirmed.status === 200 ? 1 : 0);
  });
});

describe('two people who register with the same address', () => {
  test('are independent: the mailbox owner confirms their own registration, and the other one is deleted', async () => {
    const email = address();
    const attacker = await register(email, { first_name: 'Eve' });
    const attacking = await signedIn(email, NEW);
    const victim = await register(email, { ...own, first_name: 'Vera' }, 2);
    await verify({ token: victim.token }, victim.browser).expect(200);
    const me = await identity.http.get('/api/me').set(await signedIn(email, OWN));
    expect(me.body.data.first_name).toBe('Vera');
    await login(email, NEW).expect(401);
    await identity.http.get('/api/me').set(attacking).expect(401);
    await verify({ token: attacker.token }, attacker.browser).expect(422);
    await verify({ token: attacker.token, ...own }).expect(422);
  });

  test('do not confirm each other: a link asks for a password in the other browser', async () => {
    const email = address();
    const attacker = await register(email);
    const victim = await register(email, own, 2);
    const answer = await verify({ token: attacker.token }, victim.browser).expect(422);
    expect(Object.keys(answer.body.errors)).toEqual(['password']);
  });

  test('concurrently: only one of them gets the address', async () => {
    const email = address();
    const first = await register(email);
    const second = await register(email, {}, 2);
    const answers = await Promise.all([
      verify({ token: first.token }, first.browser),
      verify({ token: second.token }, second.browser),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422]);
    expect(await database().user.count({ where: { email } })).toBe(1);
  });

  test('sent twice from one browser it is one account, with what was sent last', async () => {
    const email = address();
    const { browser } = await register(email);
    const form = {
      first_name: 'Nora',
      last_name: 'Neu',
      email,
      ...own,
      tenant_name: 'Again',
    };
    await identity.http.post('/api/auth/register').set(browser).send(form).expect(202);
    const token = await linkFor(email, 2);
    expect(await database().user.count({ where: { email } })).toBe(1);
    await verify({ token }, browser).expect(200);
    expect(await tenantsOf(await signedIn(email, OWN))).toMatchObject([{ name: 'Again' }]);
  });
});

describe('a password reset of an unconfirmed account', () => {
  test('gives it to the mailbox owner, without previous factors, and creates the tenant', async () => {
    const email = address();
    await register(email);
    const session = await signedIn(email, NEW);
    const { id: userId } = await database().user.findFirstOrThrow({ where: { email } });
    await database().pin.create({ data: { userId, hash: 'x' } });
    const sealedSecret = new Uint8Array(1);
    const confirmedAt = new Date();
    await database().twoFactor.create({ data: { userId, sealedSecret, confirmedAt } });
    await identity.http.post('/api/auth/password/forgot').send({ email }).expect(200);
    const { link } = await mailbox.next('password_reset', email);
    const token = link.searchParams.get('token');
    await identity.http
      .post('/api/auth/password/reset')
      .send({ token, email, ...own })
      .expect(200);
    await identity.http.get('/api/me').set(session).expect(401);
    await login(email, NEW).expect(401);
    const answer = await login(email, OWN).expect(200);
    expect(answer.body.data).toMatchObject({ requires_2fa: false, requires_pin: false });
    const bearer = { authorization: `Bearer ${answer.body.data.token}` };
    expect(await tenantsOf(bearer)).toMatchObject([{ name: `Tenant of ${email}` }]);
  });
});

describe('an account that is older than the rule', () => {
  test('keeps its membership and its tenant, and works again once its address is confirmed', async () => {
    const tenant = await identity.people.tenant();
    const user = await identity.people.user({
      tenant,
      role: 'owner',
      data: { emailVerifiedAt: null },
    });
    const email = user.email ?? '';
    const bearer = await identity.people.signIn(user);
    const refused = await identity.http.get('/api/user').set(bearer).expect(403);
    expect(refused.body.error).toBe('email_verification_required');
    await identity.http.post('/api/auth/email/resend').send({ email }).expect(200);
    await verify({ token: await linkFor(email) }, bearer).expect(200);
    expect(await tenantsOf(bearer)).toMatchObject([{ id: tenant.id }]);
  });

  test('is not deleted if somebody else confirms the same address, and may choose another', async () => {
    const tenant = await identity.people.tenant();
    const user = await identity.people.user({
      tenant,
      role: 'owner',
      data: { emailVerifiedAt: null },
    });
    const email = user.email ?? '';
    const newcomer = await register(email);
    await verify({ token: newcomer.token }, newcomer.browser).expect(200);
    await login(email, NEW).expect(200);
    const bearer = await signedIn(email, PASSWORD);
    const right = address();
    await identity.http.put('/api/auth/email').set(bearer).send({ email: right }).expect(202);
    await verify({ token: await linkFor(right) }, bearer).expect(200);
    expect(await tenantsOf(bearer)).toMatchObject([{ id: tenant.id }]);
  });
});

describe('a member whose address a stranger claims later', () => {
  const claimedMember = async () => {
    const tenant = await identity.people.tenant();
    const data = { emailVerifiedAt: null };
    const user = await identity.people.user({ tenant, role: 'owner', data });
    const email = user.email ?? '';
    const stranger = await register(email, { first_name: 'Eve' });
    return { tenant, user, email, stranger };
  };

  test('gets the link for their own account, signed in or not', async () => {
    for (const isSignedIn of [true, false]) {
      const { tenant, user, email } = await claimedMember();
      const bearer = await identity.people.signIn(user);
      const asking = isSignedIn ? bearer : {};
      await identity.http.post('/api/auth/email/resend').set(asking).send({ email }).expect(200);
      await verify({ token: await linkFor(email, 2) }, bearer).expect(200);
      expect(await tenantsOf(bearer)).toMatchObject([{ id: tenant.id }]);
      expect(await database().user.count({ where: { email } })).toBe(1);
    }
  });

  test('and the stranger, signed in, gets the link for theirs', async () => {
    const { email, stranger } = await claimedMember();
    const answer = await login(email, NEW).set(stranger.browser).expect(200);
    const bearer = { authorization: `Bearer ${answer.body.data.token}` };
    await identity.http.post('/api/auth/email/resend').set(bearer).send({ email }).expect(200);
    const { link } = await mailbox.next('email_verification', email, 2);
    const token = link.searchParams.get('token');
    const shown = await identity.http.get('/api/auth/email/verify').query({ token }).set(bearer);
    expect(shown.body.data).toMatchObject({ asks: 'nothing', first_name: 'Eve' });
  });

  test('resets their own password', async () => {
    const { tenant, user, email } = await claimedMember();
    await identity.http.post('/api/auth/password/forgot').send({ email }).expect(200);
    const { link } = await mailbox.next('password_reset', email);
    const token = link.searchParams.get('token');
    const reset = { token, email, ...own };
    await identity.http.post('/api/auth/password/reset').send(reset).expect(200);
    expect(await tenantsOf(await signedIn(email, OWN))).toMatchObject([{ id: tenant.id }]);
    expect(await database().user.findMany({ where: { email } })).toMatchObject([{ id: user.id }]);
  });
});

test('the address of an account that was deleted meanwhile cannot be changed: 401', async () => {
  const email = address();
  await register(email);
  const bearer = await signedIn(email, NEW);
  const [deletion, answer] = await database().$transaction(async (tx) => {
    const deleted = await tx.user.deleteMany({ where: { email } });
    const changing = identity.http.put('/api/auth/email').set(bearer).send({ email: address() });
    const sent = changing.then((each) => each);
    await someoneWaits();
    return [deleted, { sent }] as const;
  });
  expect(deletion.count).toBe(1);
  expect((await answer.sent).status).toBe(401);
});

test('unconfirmed accounts are deleted, except members of a tenant', async () => {
  const gone = address();
  await register(gone);
  const tenant = await identity.people.tenant();
  const kept = await identity.people.user({ tenant, data: { emailVerifiedAt: null } });
  const cookieHash = new Uint8Array(32);
  const expiresAt = new Date(0);
  await database().registration.create({
    data: { userId: kept.id, cookieHash, tenantName: 'Old', expiresAt },
  });
  await database().registration.updateMany({
    where: { user: { email: gone } },
    data: { expiresAt },
  });
  const { pool, logger } = identity.context;
  const housekeeping = startHousekeeping({ pool, logger, retention: identity.context.config });
  await housekeeping.sweep();
  await housekeeping.stop();
  expect(await database().user.count({ where: { email: gone } })).toBe(0);
  expect(await database().user.count({ where: { id: kept.id } })).toBe(1);
});
