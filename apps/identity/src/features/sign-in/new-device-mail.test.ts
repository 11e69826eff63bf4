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
  identity = await startIdentity({ MAIL_DIRECTORY: mailbox.directory });
  steps = stepsOf(identity);
});
afterAll(async () => {
  await identity.stop();
  await mailbox.remove();
});

const kindsTo = async (address: string): Promise<string[]> =>
  (await mailbox.to(address)).map(({ kind }) => kind);

describe('a sign-in from a new device', () => {
  test('is told by mail, the first of all and those from known ones are not', async () => {
    const user = await identity.people.user();
    const address = user.email ?? '';
    const cookie = deviceCookieOf(await steps.login(user, { 'user-agent': 'curl/8' }));
    await steps.login(user, { ...cookie, 'user-agent': 'curl/9' });
    await steps.login(user, { 'user-agent': FIREFOX });
    const mail = await mailbox.next('new_device', address);
    expect(mail.text).toContain('Firefox on Linux, IP address 127.0.0.1');
    await steps.login(user, { 'user-agent': FIREFOX });
    await steps.login(user, { 'user-agent': 'wget/1' });
    await mailbox.next('new_device', address, 2);
    expect(await kindsTo(address)).toEqual(['new_device', 'new_device']);
  });

  test('is none until the second factor is given', async () => {
    const user = await identity.people.user();
    const address = user.email ?? '';
    const bearer = await identity.people.signIn(user);
    const authenticator = await identity.people.enableTwoFactor(user, bearer);
    const pending = steps.bearerOf(await steps.login(user, { 'user-agent': FIREFOX }));
    expect(await identity.context.database.outboxMail.count()).toBe(0);
    expect(await kindsTo(address)).toEqual([]);
    const headers = { ...pending, 'user-agent': FIREFOX };
    await steps.verify(headers, await authenticator.code());
    expect((await mailbox.next('new_device', address)).text).toContain('Firefox on Linux');
  });
});
