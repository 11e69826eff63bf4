import type { User } from '../generated/prisma/client.ts';
import { commandsOf } from '../testing/commands.ts';
import { startIdentity, type TestIdentity } from '../testing/identity.ts';
import { type Mailbox, openMailbox } from '../testing/mailbox.ts';
import { type Bearer, PASSWORD } from '../testing/population.ts';
import { stepsOf } from '../testing/sign-in.ts';

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0';
const PIN = '192837';

let mailbox: Mailbox;
let identity: TestIdentity;
let user: User;
let bearer: Bearer;
beforeAll(async () => {
  mailbox = await openMailbox();
  identity = await startIdentity({ MAIL_DIRECTORY: mailbox.directory });
});
afterAll(async () => {
  await identity.stop();
  await mailbox.remove();
});
beforeEach(async () => {
  user = await identity.people.user({ tenant: await identity.people.tenant() });
  bearer = await identity.people.signIn(user);
});

const mailOf = (kind: string, count = 1) => mailbox.next(kind, user.email ?? '', count);
const post = (path: string, body: object) =>
  identity.http
    .post(`/api/auth/${path}`)
    .set({ ...bearer, 'user-agent': FIREFOX })
    .send(body);

/** The link works: it opens a page, possibly after a sign-in. */
const opens = async (link: URL): Promise<number> =>
  (await identity.http.get(`${link.pathname}${link.search}`).redirects(1)).status;

describe('a mail notifies the user', () => {
  test('that the second factor was enabled or disabled, with device, address and what to do', async () => {
    await identity.people.enableTwoFactor(user, bearer);
    const added = await mailOf('factor_added');
    expect(added.subject).toBe('Two-factor authentication was turned on');
    expect(added.text).toContain('IP address 127.0.0.1');
    expect(added.text).toContain('If this was not you, open your recent activity');
    expect(await opens(added.link)).toBe(200);

    expect((await post('2fa/disable', { password: PASSWORD })).status).toBe(200);
    const removed = await mailOf('factor_removed');
    expect(removed.subject).toBe('Two-factor authentication was turned off');
    expect(removed.text).toContain('Firefox on Linux');
  });

  test('that a PIN was set, and removed, in their language', async () => {
    const { database } = identity.context;
    await database.user.update({ where: { id: user.id }, data: { locale: 'de' } });
    await post('pin/set', { pin: PIN, pin_confirmation: PIN });
    const added = await mailOf('factor_added');
    expect(added.subject).toBe('PIN eingerichtet');
    expect(added.text).toContain('Firefox unter Linux');
    await post('pin/disable', { password: PASSWORD });
    expect((await mailOf('factor_removed')).subject).toBe('PIN entfernt');
  });

  test('that the PIN was changed', async () => {
    await identity.people.setPin(bearer, PIN);
    const given = { current_pin: PIN, pin: '564738', pin_confirmation: '564738' };
    expect((await post('pin/change', given)).status).toBe(200);
    const changed = await mailOf('pin_changed');
    expect(changed.subject).toBe('Your PIN was changed');
    expect(changed.text).toContain('Firefox on Linux');
    expect(await opens(changed.link)).toBe(200);
  });

  test('that the password was changed, with a link that whoever changed it cannot block', async () => {
    const given = {
      current_password: PASSWORD,
      new_password: 'Another-horse-8-battery',
      new_password_confirmation: 'Another-horse-8-battery',
    };
    expect((await post('password/change', given)).status).toBe(200);
    const changed = await mailOf('password_changed');
    expect(changed.link.pathname).toBe('/password/forgot');
    expect(await opens(changed.link)).toBe(200);
  });

  test('that a recovery code was used, and how many are left', async () => {
    const { recoveryCodes } = await identity.people.enableTwoFactor(user, bearer);
    const steps = stepsOf(identity);
    const pending = steps.bearerOf(await steps.login(user));
    const answer = await steps.verify({ ...pending, 'user-agent': FIREFOX }, recoveryCodes[0]);
    expect(answer.status).toBe(200);
    const mail = await mailOf('recovery_code_used');
    expect(mail.text).toContain(`You have ${recoveryCodes.length - 1} recovery codes left.`);
    expect(mail.text).toContain('Firefox on Linux');
  });

  test('that recovery codes were replaced', async () => {
    await identity.people.enableTwoFactor(user, bearer);
    const answer = await post('2fa/recovery-codes', { password: PASSWORD });
    expect(answer.status).toBe(200);
    expect((await mailOf('recovery_codes_replaced')).subject).toBe(
      'Your recovery codes were replaced',
    );
  });

  test.each([
    ['two-factor', 'Two-factor authentication was turned off'],
    ['pin', 'Your PIN was removed'],
  ])('that an administrator removed a factor on the command line: %s', async (factor, subject) => {
    if (factor === 'pin') await identity.people.setPin(bearer, PIN);
    else await identity.people.enableTwoFactor(user, bearer);
    await commandsOf(identity)('remove-factor', user.email ?? '', factor);
    const mail = await mailOf('factor_removed');
    expect(mail.subject).toBe(subject);
    expect(mail.text).toContain('An administrator');
    expect(mail.link.pathname).toBe(`/account/${factor}`);
  });

  test('of nothing if nothing changed', async () => {
    await post('pin/set', { pin: PIN, pin_confirmation: PIN });
    await mailOf('factor_added');
    expect((await post('pin/set', { pin: PIN, pin_confirmation: PIN })).status).toBe(409);
    expect((await post('pin/disable', { password: 'wrong' })).status).toBe(422);
    const kinds = (await mailbox.to(user.email ?? '')).map(({ kind }) => kind);
    expect(kinds).toEqual(['factor_added']);
    expect(await identity.context.database.outboxMail.count()).toBe(0);
  });
});
