import { until } from '@tessera/local-stack';
import { deviceCookieOf } from '../../testing/cookies.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import { type Mailbox, openMailbox } from '../../testing/mailbox.ts';
import { stepsOf } from '../../testing/sign-in.ts';

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0';

let mailbox: Mailbox;
let identity: TestIdentity;
let steps: ReturnType<typeof stepsOf>;
beforeAll(async () => {
  mailbox = await openMailbox();
  identity = await startIdentity({ MAIL_DIRECTORY: mailbox.directory, TRUSTED_PROXIES: '1' });
  steps = stepsOf(identity);
});
afterAll(async () => {
  await identity.stop();
  await mailbox.remove();
});

const kindsTo = async (address: string): Promise<string[]> =>
  (await mailbox.to(address)).map(({ kind }) => kind);

describe('a sign-in from a new device', () => {
  test('is reported by mail, except for the first sign-in and known devices', async () => {
    const user = await identity.people.user();
    const address = user.email ?? '';
    const cookie = deviceCookieOf(await steps.login(user, { 'user-agent': 'curl/8' }));
    await steps.login(user, { ...cookie, 'user-agent': 'curl/9' });
    await steps.login(user, { 'user-agent': FIREFOX });
    const mail = await mailbox.next('new_device', address);
    expect(mail.text).toContain('Firefox on Linux, IP address 127.0.0.1');
    const other = await steps.login(user, { 'user-agent': 'wget/1' });
    await steps.login(user, { ...deviceCookieOf(other), 'user-agent': 'wget/1' });
    await mailbox.next('new_device', address, 2);
    expect(await kindsTo(address)).toEqual(['new_device', 'new_device']);
  });

  test('is reported once per user agent if no cookie comes back, also for concurrent sign-ins', async () => {
    const user = await identity.people.user();
    const address = user.email ?? '';
    await steps.login(user, { 'user-agent': 'curl/8' });
    const one = () => steps.login(user, { 'user-agent': FIREFOX });
    await Promise.all([one(), one(), one(), one()]);
    for (let i = 0; i < 3; i += 1) await one();
    await steps.login(user, { 'user-agent': 'wget/1' });
    await mailbox.next('new_device', address, 2);
    await until(async () => (await identity.context.database.outboxMail.count()) === 0);
    expect(await kindsTo(address)).toEqual(['new_device', 'new_device']);
  });

  test('is reported for each network in which a user agent without a cookie appears', async () => {
    const user = await identity.people.user();
    const address = user.email ?? '';
    for (const ip of ['203.0.113.7', '198.51.100.7', '198.51.100.8', '203.0.113.9']) {
      await steps.login(user, { 'user-agent': FIREFOX, 'x-forwarded-for': ip });
    }
    await mailbox.next('new_network', address);
    await until(async () => (await identity.context.database.outboxMail.count()) === 0);
    expect(await kindsTo(address)).toEqual(['new_network']);
  });

  test('is reported if it looks like a device whose cookie has come back', async () => {
    const user = await identity.people.user();
    const cookie = deviceCookieOf(await steps.login(user, { 'user-agent': FIREFOX }));
    await steps.login(user, { ...cookie, 'user-agent': FIREFOX });
    await steps.login(user, { 'user-agent': FIREFOX });
    await mailbox.next('new_device', user.email ?? '');
  });

  test('is reported for a known device once per network', async () => {
    const user = await identity.people.user();
    const address = user.email ?? '';
    const from = (ip: string) => ({ 'user-agent': FIREFOX, 'x-forwarded-for': ip });
    const cookie = deviceCookieOf(await steps.login(user, from('203.0.113.7')));
    await steps.login(user, { ...cookie, ...from('203.0.113.99:1234') });
    await steps.login(user, { ...cookie, ...from('198.51.100.7') });
    const { text } = await mailbox.next('new_network', address);
    expect(text).toContain('Firefox on Linux, IP address 198.51.100.7');
    await steps.login(user, { ...cookie, ...from('203.0.113.7') });
    await steps.login(user, { ...cookie, ...from('198.51.100.8') });
    await steps.login(user, { ...cookie, ...from('2001:db8:0:1::1') });
    await mailbox.next('new_network', address, 2);
    expect(await kindsTo(address)).toEqual(['new_network', 'new_network']);
  });

  test('is not reported before the second factor', async () => {
    const user = await identity.people.user();
    const address = user.email ?? '';
    const bearer = await identity.people.signIn(user);
    const authenticator = await identity.people.enableTwoFactor(user, bearer);
    const pending = steps.bearerOf(await steps.login(user, { 'user-agent': FIREFOX }));
    await until(async () => (await identity.context.database.outboxMail.count()) === 0);
    expect(await kindsTo(address)).toEqual(['factor_added']);
    const headers = { ...pending, 'user-agent': FIREFOX };
    await steps.verify(headers, await authenticator.code());
    expect((await mailbox.next('new_device', address)).text).toContain('Firefox on Linux');
  });
});
