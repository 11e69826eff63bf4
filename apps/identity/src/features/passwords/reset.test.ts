import type { User } from '../../generated/prisma/client.ts';
import type { Authenticator } from '../../testing/authenticator.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import { type Mailbox, openMailbox } from '../../testing/mailbox.ts';
import { PASSWORD } from '../../testing/population.ts';
import { stepsOf } from '../../testing/sign-in.ts';
import { present } from '../../testing/tokens.ts';

const NEW = 'Another-horse-8-battery';

let identity: TestIdentity;
let mailbox: Mailbox;
beforeAll(async () => {
  mailbox = await openMailbox();
  identity = await startIdentity({ MAIL_DIRECTORY: mailbox.directory });
});
afterAll(async () => {
  await identity.stop();
  await mailbox.remove();
});

const forgot = (email: string) => identity.http.post('/api/auth/password/forgot').send({ email });
const reset = (body: Record<string, unknown>) =>
  identity.http
    .post('/api/auth/password/reset')
    .send({ password: NEW, password_confirmation: NEW, ...body });
const login = (email: string | null, password: string) =>
  identity.http.post('/api/auth/login').send({ email, password });
const person = async (data: Partial<User> = {}) =>
  identity.people.user({ tenant: await identity.people.tenant(), data });
/** The token of a received mail; `count` is its number. */
const tokenFor = async ({ email }: User, count = 1): Promise<string> => {
  await forgot(email ?? '').expect(200);
  const { link } = await mailbox.next('password_reset', email ?? '', count);
  return link.searchParams.get('token') ?? '';
};

describe('forgot', () => {
  test('sends a link in the recipient’s language, with the same response for an unknown address', async () => {
    const user = await person({ locale: 'de' } as Partial<User>);
    const known = await forgot(user.email ?? '').expect(200);
    const unknown = await forgot('nobody@example.test').expect(200);
    expect(unknown.body).toEqual(known.body);
    expect(known.body).toEqual({ success: true, message: expect.any(String) });
    const mail = await mailbox.next('password_reset', user.email ?? '');
    expect(mail.subject).toBe('Neues Passwort festlegen');
    expect(mail.link.pathname).toBe('/password/reset');
    expect(mail.link.searchParams.get('email')).toBe(user.email);
    expect(await mailbox.to('nobody@example.test')).toEqual([]);
  });

  test('responds before looking up the account, so timing reveals nothing', async () => {
    const user = await person();
    const { database } = identity.context;
    let answered: Promise<unknown> = Promise.resolve();
    // The accounts cannot be read while this lasts; the response does not wait for it.
    await database.$transaction(async (tx) => {
      await tx.$executeRaw`LOCK TABLE identity.users IN ACCESS EXCLUSIVE MODE`;
      answered = forgot(user.email ?? '').expect(200);
      await answered;
      expect(await mailbox.to(user.email ?? '')).toEqual([]);
    });
    await mailbox.next('password_reset', user.email ?? '');
  });

  test('sends nothing to service accounts and inactive users', async () => {
    const inactive = await person({ isActive: false });
    const machine = await person({ isServiceAccount: true });
    await forgot(inactive.email ?? '').expect(200);
    await forgot(machine.email ?? '').expect(200);
    const last = await person();
    await tokenFor(last);
    expect(await mailbox.to(inactive.email ?? '')).toEqual([]);
    expect(await mailbox.to(machine.email ?? '')).toEqual([]);
  });

  test('sends at most five mails per hour to one recipient', async () => {
    const user = await person();
    for (let asked = 0; asked < 8; asked += 1) await forgot(user.email ?? '').expect(200);
    await mailbox.next('password_reset', user.email ?? '', 5);
    await tokenFor(await person());
    expect(await mailbox.to(user.email ?? '')).toHaveLength(5);
  });

  test('accepts at most five requests per hour and address', async () => {
    const strict = await startIdentity({ RATE_LIMIT_PASSWORD_FORGOT: '5' });
    const ask = () =>
      strict.http.post('/api/auth/password/forgot').send({ email: 'nobody@example.test' });
    for (let asked = 0; asked < 5; asked += 1) await ask().expect(200);
    const answer = await ask().expect(429);
    expect(answer.body.error).toBe('rate_limited');
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(60);
    await strict.stop();
  });
});

describe('reset', () => {
  test('replaces the password, proves the address and ends every session and token', async () => {
    const user = await person({ forcePasswordChange: true } as Partial<User>);
    const session = await identity.people.signIn(user);
    const token = await tokenFor(user);
    await reset({ token, email: user.email }).expect(200);
    await present(identity.http, session.authorization.slice('Bearer '.length)).expect(401);
    await login(user.email, PASSWORD).expect(401);
    await login(user.email, NEW).expect(200);
    const { database } = identity.context;
    const after = await database.user.findUniqueOrThrow({ where: { id: user.id } });
    expect(after).toMatchObject({ forcePasswordChange: false, emailVerifiedAt: expect.any(Date) });
    expect(+(after.passwordChangedAt ?? 0)).toBeGreaterThan(Date.now() - 60_000);
    const actions = await database.activityEntry.findMany({ where: { userId: user.id } });
    expect(actions.map(({ action }) => action)).toContain('password_reset');
    const [event] = await database.outboxEvent.findMany({ where: { key: user.id } });
    expect(event).toMatchObject({
      topic: 'identity.token.revoked',
      payload: { data: { user_id: user.id, reason: 'password_reset' } },
    });
    await mailbox.next('password_changed', user.email ?? '');
  });

  test('ends the trust in devices', async () => {
    const user = await person();
    const { database } = identity.context;
    const secretHash = new Uint8Array(32).fill(7);
    await database.device.create({
      data: {
        userId: user.id,
        secretHash,
        name: '',
        type: '',
        browser: '',
        os: '',
        trustedUntil: new Date(Date.now() + 60_000),
      },
    });
    await reset({ token: await tokenFor(user), email: user.email }).expect(200);
    const device = await database.device.findFirst({ where: { userId: user.id } });
    expect(+(device?.trustedUntil ?? 0)).toBeLessThanOrEqual(Date.now());
  });

  test('keeps the second factor and the PIN: access to mails is not enough', async () => {
    const user = await person();
    const bearer = await identity.people.signIn(user);
    await identity.people.enableTwoFactor(user, bearer);
    await identity.people.setPin(bearer, '192837');
    await reset({ token: await tokenFor(user), email: user.email }).expect(200);
    const { body } = await login(user.email, NEW).expect(200);
    expect(body.data).toMatchObject({ requires_2fa: true });
    const where = { userId: user.id };
    expect(await identity.context.database.pin.count({ where })).toBe(1);
  });

  describe('after somebody else has locked the second factor', () => {
    const steps = () => stepsOf(identity);
    let user: User;
    let authenticator: Authenticator;
    beforeEach(async () => {
      user = await person();
      const bearer = await identity.people.signIn(user);
      authenticator = await identity.people.enableTwoFactor(user, bearer);
    });
    const guess = async (code: string, password = PASSWORD) => {
      const pending = steps().bearerOf(await login(user.email, password).expect(200));
      return (await steps().verify(pending, code)).status;
    };
    const guessAll = async (codes: readonly string[], password?: string) => {
      const statuses = [];
      for (const code of codes) statuses.push(await guess(code, password));
      return statuses;
    };
    const recoveryCode = () => authenticator.recoveryCodes[0] ?? '';
    const wrongRecoveryCode = '00000-00000-00000-00000';

    test.each([
      ['one-time passwords', () => authenticator.wrongCode()],
      ['recovery codes', () => wrongRecoveryCode],
    ])('with wrong %s, allows recovery codes but no one-time passwords', async (_, wrong) => {
      const five = Array.from({ length: 5 }, wrong);
      expect(await guessAll(five)).toEqual([422, 422, 422, 422, 422]);
      expect(await guess(recoveryCode())).toBe(429);
      expect(await guess(await authenticator.code())).toBe(429);
      await reset({ token: await tokenFor(user), email: user.email }).expect(200);
      expect(await guess(await authenticator.code(), NEW)).toBe(429);
      expect(await guess(recoveryCode(), NEW)).toBe(200);
      expect(await guess(await authenticator.code(), NEW)).toBe(200);
    });

    test('allows five wrong recovery codes, which extend no other lock', async () => {
      await guessAll(Array.from({ length: 5 }, () => authenticator.wrongCode()));
      await reset({ token: await tokenFor(user), email: user.email }).expect(200);
      const { database } = identity.context;
      const where = { userId: user.id };
      const { lockedUntil } = await database.twoFactor.findUniqueOrThrow({ where });
      const six = Array.from({ length: 6 }, () => wrongRecoveryCode);
      expect(await guessAll(six, NEW)).toEqual([422, 422, 422, 422, 422, 429]);
      expect(await guess(recoveryCode(), NEW)).toBe(429);
      expect(await database.twoFactor.findUniqueOrThrow({ where })).toMatchObject({ lockedUntil });
    });

    test('keeps the PIN locked', async () => {
      const other = await person();
      const bearer = await identity.people.signIn(other);
      await identity.people.setPin(bearer, '192837');
      for (let i = 0; i < 5; i += 1) await steps().verifyPin(bearer, '918273');
      await reset({ token: await tokenFor(other), email: other.email }).expect(200);
      const locked = steps().bearerOf(await login(other.email, NEW).expect(200));
      expect((await steps().verifyPin(locked, '192837')).status).toBe(429);
    });
  });

  test('works once, and voids other pending links', async () => {
    const user = await person();
    const [first, second] = [await tokenFor(user), await tokenFor(user, 2)];
    await reset({ token: second, email: user.email }).expect(200);
    for (const token of [first, second]) {
      const again = {
        password: 'Third-horse-9-battery',
        password_confirmation: 'Third-horse-9-battery',
      };
      const answer = await reset({ token, email: user.email, ...again }).expect(422);
      expect(answer.body).toMatchObject({
        error: 'validation_failed',
        errors: { token: [expect.any(String)] },
      });
    }
  });

  test('succeeds for one of ten concurrent requests with one token', async () => {
    const user = await person();
    const token = await tokenFor(user);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => {
        const password = `Horse-number-${index}-battery`;
        return reset({ token, email: user.email, password, password_confirmation: password });
      }),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(422)]);
  });

  test("rejects an expired, unknown or other user's token with errors.token", async () => {
    const [user, other] = [await person(), await person()];
    const token = await tokenFor(user);
    const expired = await tokenFor(other);
    await identity.context.database.oneTimeToken.updateMany({
      where: { userId: other.id },
      data: { expiresAt: new Date(0) },
    });
    for (const body of [
      { token: expired, email: other.email },
      { token: 'nonsense', email: user.email },
      { token: '', email: user.email },
      { token, email: other.email },
    ]) {
      const answer = await reset(body).expect(422);
      expect(Object.keys(answer.body.errors)).toEqual(['token']);
    }
    // The refused attempts changed nothing: the old password and the token still work.
    await login(user.email, PASSWORD).expect(200);
    await reset({ token, email: user.email }).expect(200);
  });

  test('names the token and every broken password rule at once, and keeps the token valid', async () => {
    const user = await person();
    const weak = { password: 'short', password_confirmation: 'shorter' };
    const answer = await reset({ token: 'nonsense', email: user.email, ...weak }).expect(422);
    expect(answer.body.errors).toEqual({
      token: [expect.any(String)],
      password: [
        'the password must have at least 12 characters',
        'the password must have an uppercase letter',
        'the password must have a digit',
        'the password must have a special character',
        'the password must not be a common one, with or without digits and symbols at its end',
      ],
      password_confirmation: ['it must be the same as password'],
    });
    const token = await tokenFor(user);
    await reset({ token, email: user.email, ...weak }).expect(422);
    await reset({ token, email: user.email }).expect(200);
  });

  test('accepts the address in any case', async () => {
    const user = await person();
    await forgot((user.email ?? '').toUpperCase()).expect(200);
    const { link } = await mailbox.next('password_reset', user.email ?? '');
    const token = link.searchParams.get('token');
    await reset({ token, email: user.email?.toUpperCase() }).expect(200);
  });
});
