import type { User } from '../../generated/prisma/client.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import { answerAfter } from '../../testing/locks.ts';
import { type Mailbox, openMailbox } from '../../testing/mailbox.ts';
import { type Bearer, PASSWORD } from '../../testing/population.ts';

const NEW_PASSWORD = 'Another-horse-8-battery';

let mailbox: Mailbox;
let identity: TestIdentity;
beforeAll(async () => {
  mailbox = await openMailbox();
  identity = await startIdentity({ MAIL_DIRECTORY: mailbox.directory, RATE_LIMIT_MAIL: '4' });
});
afterAll(async () => {
  await identity.stop();
  await mailbox.remove();
});

let user: User;
let bearer: Bearer;
/** The address that the account has at first. */
let before: string;
let after: string;
beforeEach(async () => {
  user = await identity.people.user({ tenant: await identity.people.tenant() });
  bearer = await identity.people.signIn(user);
  before = user.email ?? '';
  after = `new-${before}`;
});

const database = () => identity.context.database;
const request = (email: string, caller = bearer) =>
  identity.http.post('/api/profile/email').set(caller).send({ email });
const pending = async (caller = bearer) =>
  (await identity.http.get('/api/profile/email').set(caller).expect(200)).body.data.pending;
const confirm = (token: string) => identity.http.post('/api/auth/email/change').send({ token });
const undo = (token: string) => identity.http.post('/api/auth/email/undo').send({ token });
const login = (email: string, password = PASSWORD) =>
  identity.http.post('/api/auth/login').send({ email, password });
const addressNow = async () =>
  (await database().user.findUniqueOrThrow({ where: { id: user.id } })).email;
const tokenOf = async (kind: string, address: string, count = 1): Promise<string> =>
  (await mailbox.next(kind, address, count)).link.searchParams.get('token') ?? '';
const actions = async () =>
  (
    await database().activityEntry.findMany({
      where: { userId: user.id, action: { contains: 'email' } },
      orderBy: { id: 'asc' },
    })
  ).map(({ action }) => action);

/** Changes the address as its owner does; returns the token that undoes the change. */
const change = async (from: string, to: string, caller = bearer): Promise<string> => {
  await request(to, caller).expect(202);
  await confirm(await tokenOf('email_change', to)).expect(200);
  return tokenOf('email_replaced', from);
};

describe('a change of the email address', () => {
  test('waits for the link in the mail to the new address, and notifies the old one at once', async () => {
    await request(after.toUpperCase()).expect(202);
    expect(await pending()).toMatchObject({ email: after });
    expect((await mailbox.next('email_change_requested', before)).text).toContain(after);
    await mailbox.next('email_change', after);
    expect(await addressNow()).toBe(before);
    await login(before).expect(200);
  });

  test('takes effect when the link is confirmed, keeps sessions, and notifies both addresses', async () => {
    await request(after).expect(202);
    const token = await tokenOf('email_change', after);
    await confirm(token).expect(200);
    await login(before).expect(401);
    await login(after).expect(200);
    const me = await identity.http.get('/api/me').set(bearer).expect(200);
    expect(me.body.data.email).toBe(after);
    expect((await mailbox.next('email_replaced', before)).text).toContain(after);
    await mailbox.next('email_changed', after);
    expect(await actions()).toEqual(['email_change_requested', 'email_changed']);
    const events = { where: { key: user.id, topic: 'identity.user.updated' } };
    expect(await database().outboxEvent.count(events)).toBe(1);
    expect(await pending()).toBeNull();
  });

  test.each([
    ['requested', 'post', ''],
    ['sent again', 'post', '/resend'],
    ['canceled', 'delete', ''],
  ] as const)('is not %s by a session that ends meanwhile: 401', async (_what, method, path) => {
    await request(after).expect(202);
    const change = { where: { userId: user.id, purpose: 'email_change' } } as const;
    const links = await database().oneTimeToken.findMany(change);
    const start = () =>
      identity.http[method](`/api/profile/email${path}`)
        .set(bearer)
        .send(path || method === 'delete' ? undefined : { email: `third-${before}` });
    const { status } = await answerAfter(database(), user.id, start, (tx) =>
      tx.session.updateMany({ where: { userId: user.id }, data: { endedAt: new Date() } }),
    );
    expect(status).toBe(401);
    expect(await database().oneTimeToken.findMany(change)).toEqual(links);
  });

  test('is confirmed once, even by concurrent requests', async () => {
    await request(after).expect(202);
    const token = await tokenOf('email_change', after);
    const answers = await Promise.all([confirm(token), confirm(token), confirm(token)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422, 422]);
    const again = await confirm(token);
    expect([again.status, Object.keys(again.body.errors)]).toEqual([422, ['token']]);
  });

  test('expires', async () => {
    await request(after).expect(202);
    const token = await tokenOf('email_change', after);
    await database().oneTimeToken.updateMany({
      where: { userId: user.id, purpose: 'email_change' },
      data: { expiresAt: new Date(Date.now() - 1) },
    });
    await confirm(token).expect(422);
    expect(await pending()).toBeNull();
    expect(await addressNow()).toBe(before);
  });

  test('can be cancelled, and replaced by another one', async () => {
    await request(after).expect(202);
    const first = await tokenOf('email_change', after);
    await request(`other-${after}`).expect(202);
    await confirm(first).expect(422);
    const second = await tokenOf('email_change', `other-${after}`);
    await identity.http.delete('/api/profile/email').set(bearer).expect(200);
    await confirm(second).expect(422);
    expect(await pending()).toBeNull();
    expect(await actions()).toEqual([
      'email_change_requested',
      'email_change_requested',
      'email_change_canceled',
    ]);
  });

  test('can resend its link, and ends with the first that is confirmed', async () => {
    const resend = () => identity.http.post('/api/profile/email/resend').set(bearer);
    expect((await resend()).status).toBe(409);
    await request(after).expect(202);
    const first = await tokenOf('email_change', after);
    await resend().expect(202);
    const second = await tokenOf('email_change', after, 2);
    await confirm(first).expect(200);
    await confirm(second).expect(422);
    await mailbox.next('email_replaced', before);
    expect((await mailbox.to(before)).map(({ kind }) => kind)).toEqual([
      'email_change_requested',
      'email_replaced',
    ]);
  });

  test('keeps the link that was sent when too many mails prevent another one', async () => {
    await request(after).expect(202);
    const first = await tokenOf('email_change', after);
    const stranger = await identity.people.signIn(await identity.people.user());
    for (const count of [2, 3, 4]) {
      await request(after, stranger).expect(202);
      await mailbox.next('email_change', after, count);
    }
    await identity.http.post('/api/profile/email/resend').set(bearer).expect(202);
    await request(after).expect(202);
    await confirm(first).expect(200);
    expect(await addressNow()).toBe(after);
  });

  test.each([
    [
      'a new password',
      '/api/auth/password/change',
      {
        current_password: PASSWORD,
        new_password: NEW_PASSWORD,
        new_password_confirmation: NEW_PASSWORD,
      },
    ],
    ['“This was not me”', '/api/profile/activity/dispute/link', {}],
  ])('is cancelled by %s, because an attacker may have requested it', async (_what, path, body) => {
    await request(after).expect(202);
    const token = await tokenOf('email_change', after);
    await identity.http.post(path).set(bearer).send(body).expect(200);
    expect(await pending()).toBeNull();
    await confirm(token).expect(422);
    expect(await addressNow()).toBe(before);
  });

  test('is cancelled by a password reset', async () => {
    await request(after).expect(202);
    const token = await tokenOf('email_change', after);
    await identity.http.post('/api/auth/password/forgot').send({ email: before }).expect(200);
    const reset = await tokenOf('password_reset', before);
    const given = { password: NEW_PASSWORD, password_confirmation: NEW_PASSWORD };
    await identity.http
      .post('/api/auth/password/reset')
      .send({ token: reset, email: before, ...given })
      .expect(200);
    await confirm(token).expect(422);
    expect(await addressNow()).toBe(before);
  });

  test('voids what was mailed to the old address: password resets and invitations', async () => {
    const tenant = await identity.people.tenant();
    const inviter = await identity.people.caller(tenant, '*');
    await identity.http
      .post(`/api/tenants/${tenant.id}/members`)
      .set(inviter)
      .send({ email: before, role: 'member' })
      .expect(202);
    const invitation = await tokenOf('invitation', before);
    await identity.http.post('/api/auth/password/forgot').send({ email: before }).expect(200);
    const reset = await tokenOf('password_reset', before);
    await change(before, after);
    const accepted = await identity.http
      .post('/api/auth/invitations/accept')
      .set(bearer)
      .send({ token: invitation });
    expect(accepted.status).toBe(422);
    const given = { password: NEW_PASSWORD, password_confirmation: NEW_PASSWORD };
    const answer = await identity.http
      .post('/api/auth/password/reset')
      .send({ token: reset, email: before, ...given });
    expect(answer.status).toBe(422);
  });

  test('ends unconfirmed claims to the address', async () => {
    const claim = { email: after, emailVerifiedAt: null };
    const claimant = await identity.people.user({ data: claim });
    const member = await identity.people.user({
      tenant: await identity.people.tenant(),
      data: claim,
    });
    await change(before, after);
    const left = await database().user.findMany({
      where: { id: { in: [claimant.id, member.id] } },
    });
    expect(left.map(({ id }) => id)).toEqual([member.id]);
  });
});

describe('an address of another account', () => {
  test('gets the same response; its holder is notified, and nobody gets a link', async () => {
    const holder = await identity.people.user();
    const taken = holder.email ?? '';
    const free = await request(after);
    const answer = await request(taken);
    expect([answer.status, answer.body]).toEqual([free.status, free.body]);
    expect(await pending()).toMatchObject({ email: taken });
    await mailbox.next('email_change_taken', taken);
    expect((await mailbox.to(taken)).map(({ kind }) => kind)).toEqual(['email_change_taken']);
  });

  test('that was confirmed after the link was sent is rejected', async () => {
    await request(after).expect(202);
    const token = await tokenOf('email_change', after);
    await identity.people.user({ data: { email: after } });
    const answer = await confirm(token);
    expect([answer.status, answer.body.error]).toEqual([409, 'address_taken']);
    expect(await addressNow()).toBe(before);
  });

  test('is given to only one of two concurrent confirmations', async () => {
    const other = await identity.people.user();
    const theirs = await identity.people.signIn(other);
    await request(after).expect(202);
    const mine = await tokenOf('email_change', after);
    await request(after, theirs).expect(202);
    const their = await tokenOf('email_change', after, 2);
    const answers = await Promise.all([confirm(mine), confirm(their)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(await database().user.count({ where: { email: after } })).toBe(1);
  });
});

describe('requesting a change', () => {
  test('is rejected for the current address and for invalid ones', async () => {
    for (const email of [before, 'nowhere']) {
      const answer = await request(email);
      expect([answer.status, Object.keys(answer.body.errors)]).toEqual([422, ['email']]);
    }
  });

  test('needs a recent authentication; cancelling and resending do not', async () => {
    await request(after).expect(202);
    await database().session.updateMany({
      where: { userId: user.id },
      data: { authenticatedAt: new Date(Date.now() - 3_600_000) },
    });
    const answer = await request(`other-${after}`);
    expect([answer.status, answer.body.error]).toEqual([403, 'reauthentication_required']);
    await identity.http.post('/api/profile/email/resend').set(bearer).expect(202);
    await identity.http.delete('/api/profile/email').set(bearer).expect(200);
  });

  test('is limited', async () => {
    for (let n = 0; n < 4; n += 1) await request(`${n}-${after}`).expect(202);
    const answer = await request(`5-${after}`);
    expect([answer.status, answer.headers['retry-after']]).toEqual([429, expect.anything()]);
  });

  test('is not available to service accounts or impersonated sessions', async () => {
    const admin = await identity.people.signIn(
      await identity.people.user({ data: { isSystemAdmin: true } }),
    );
    const { body } = await identity.http
      .post(`/api/admin/users/${user.id}/impersonate`)
      .set(admin)
      .send({ reason: 'support' })
      .expect(200);
    const acting = await request(after, { authorization: `Bearer ${body.data.token}` });
    expect([acting.status, acting.body.error]).toEqual([403, 'impersonation_forbidden']);
    const client = await request(after, (await identity.people.application('*')).bearer);
    expect([client.status, client.body.error]).toEqual([403, 'permission_denied']);
  });
});

describe('undoing a change of the address', () => {
  const reset = (email: string, token: string) =>
    identity.http.post('/api/auth/password/reset').send({
      email,
      token,
      password: NEW_PASSWORD,
      password_confirmation: NEW_PASSWORD,
    });

  test('restores the address, signs out everywhere and leads to a new password', async () => {
    const token = await change(before, after);
    const { body } = await undo(token).expect(200);
    expect(body.data.email).toBe(before);
    expect(await addressNow()).toBe(before);
    await identity.http.get('/api/me').set(bearer).expect(401);
    for (const email of [before, after]) await login(email).expect(401);
    await reset(before, body.data.password_reset_token).expect(200);
    await login(before, NEW_PASSWORD).expect(200);
    for (const address of [before, after]) await mailbox.next('email_restored', address);
    expect((await actions()).at(-1)).toBe('email_restored');
    await undo(token).expect(422);
  });

  test('works after an attacker changed password and address again, set up a second factor and requested deletion', async () => {
    const token = await change(before, after);
    const third = `third-${before}`;
    await identity.http
      .post('/api/auth/password/change')
      .set(bearer)
      .send({
        current_password: PASSWORD,
        new_password: NEW_PASSWORD,
        new_password_confirmation: NEW_PASSWORD,
      })
      .expect(200);
    const later = await change(after, third);
    await identity.people.enableTwoFactor(user, bearer);
    const dueAt = new Date(Date.now() + 86_400_000);
    await database().accountDeletion.create({ data: { userId: user.id, dueAt } });
    const { body } = await undo(token).expect(200);
    expect(await database().accountDeletion.count({ where: { userId: user.id } })).toBe(0);
    expect(await addressNow()).toBe(before);
    await undo(later).expect(422);
    await login(before, NEW_PASSWORD).expect(401);
    await reset(before, body.data.password_reset_token).expect(422);
    const own = 'My-very-own-9-battery';
    await identity.http
      .post('/api/auth/password/reset')
      .send({
        email: before,
        token: body.data.password_reset_token,
        password: own,
        password_confirmation: own,
      })
      .expect(200);
    expect((await login(before, own).expect(200)).body.data.requires_2fa).toBeFalsy();
  });

  test('keeps a second factor that was there before the change', async () => {
    await identity.people.enableTwoFactor(user, bearer);
    const token = await change(before, after);
    const { body } = await undo(token).expect(200);
    await reset(before, body.data.password_reset_token).expect(200);
    const { data } = (await login(before, NEW_PASSWORD).expect(200)).body;
    expect(data.requires_2fa).toBe(true);
  });

  test('removes recovery codes that were replaced since, but keeps the second factor', async () => {
    await identity.people.enableTwoFactor(user, bearer);
    const token = await change(before, after);
    await identity.http
      .post('/api/auth/2fa/recovery-codes')
      .set(bearer)
      .send({ password: PASSWORD })
      .expect(200);
    await undo(token).expect(200);
    const where = { userId: user.id };
    expect(await database().recoveryCode.count({ where })).toBe(0);
    expect(await database().twoFactor.count({ where })).toBe(1);
  });

  test.each(['before', 'before their time was recorded'])(
    'keeps recovery codes that were created %s',
    async (when) => {
      await identity.people.enableTwoFactor(user, bearer);
      const where = { userId: user.id };
      const own = await database().recoveryCode.findMany({ where });
      if (when !== 'before') {
        await database().recoveryCode.updateMany({ where, data: { createdAt: null } });
      }
      await undo(await change(before, after)).expect(200);
      expect(await database().recoveryCode.count({ where })).toBe(own.length);
    },
  );

  test('removes a second factor set up while the change waited, also if its link was sent again', async () => {
    await request(after).expect(202);
    await mailbox.next('email_change', after);
    await identity.people.enableTwoFactor(user, bearer);
    await identity.http.post('/api/profile/email/resend').set(bearer).expect(202);
    await confirm(await tokenOf('email_change', after, 2)).expect(200);
    const { body } = await undo(await tokenOf('email_replaced', before)).expect(200);
    await reset(before, body.data.password_reset_token).expect(200);
    const { data } = (await login(before, NEW_PASSWORD).expect(200)).body;
    expect(data.requires_2fa).toBe(false);
  });

  test('from the earliest address wins over a later one that was used first', async () => {
    const first = await change(before, after);
    const second = await change(after, `third-${before}`);
    await undo(second).expect(200);
    expect(await addressNow()).toBe(after);
    await undo(first).expect(200);
    expect(await addressNow()).toBe(before);
  });

  test('cancels a pending change', async () => {
    const token = await change(before, after);
    const third = `third-${before}`;
    await request(third).expect(202);
    const next = await tokenOf('email_change', third);
    const [undone] = await Promise.all([undo(token), confirm(next)]);
    expect(undone.status).toBe(200);
    expect(await addressNow()).toBe(before);
    await confirm(next).expect(422);
    const open = { userId: user.id, purpose: 'email_change_undo', usedAt: null } as const;
    expect(await database().oneTimeToken.count({ where: open })).toBe(0);
  });

  test('is rejected after its expiry, and if another account has confirmed the address', async () => {
    const token = await change(before, after);
    const other = await identity.people.user({ data: { email: before } });
    const answer = await undo(token);
    expect([answer.status, answer.body.error]).toEqual([409, 'address_taken']);
    await database().user.delete({ where: { id: other.id } });
    await database().oneTimeToken.updateMany({
      where: { userId: user.id, purpose: 'email_change_undo' },
      data: { expiresAt: new Date(Date.now() - 1) },
    });
    await undo(token).expect(422);
    expect(await addressNow()).toBe(after);
  });

  test('is no longer possible after an operator changed the address', async () => {
    const token = await change(before, after);
    const decided = `decided-${before}`;
    const { changeEmail } = await import('../../administration/email.ts');
    await changeEmail(identity.context, after, decided);
    await undo(token).expect(422);
    expect(await addressNow()).toBe(decided);
  });
});
