import { CodeFlow } from '../testing/code-flow.ts';
import { cookieValueOf, deviceCookieOf } from '../testing/cookies.ts';
import { Forms } from '../testing/forms.ts';
import { startIdentity, type TestIdentity } from '../testing/identity.ts';
import { PASSWORD } from '../testing/population.ts';
import { activityOf, publishedEventsOf } from '../testing/sessions.ts';

let identity: TestIdentity;
let forms: Forms;
beforeAll(async () => {
  identity = await startIdentity();
  forms = new Forms(identity);
});
afterAll(() => identity.stop());

/** Signs in on the page, in a browser with these cookies. */
const signIn = async (email: string | null, cookies = '') => {
  const form = await forms.open('/sign-in', cookies);
  const answer = await forms.send('/sign-in', form, { email: email ?? '', password: PASSWORD });
  expect(answer.status).toBe(303);
  return {
    session: `__Host-session=${cookieValueOf(answer, '__Host-session')}`,
    device: deviceCookieOf(answer).cookie,
  };
};

const signOut = async (cookies: string): Promise<void> => {
  const answer = await forms.send('/sign-out', await forms.open('/sign-out', cookies), {});
  expect([answer.status, answer.headers.location]).toEqual([303, '/signed-out']);
};

test('ends all sessions of the user in this browser, with their apps, and no others', async () => {
  const flow = new CodeFlow(identity);
  const client = await flow.client();
  const user = await identity.people.user({ tenant: await identity.people.tenant() });
  const earlier = await signIn(user.email);
  const ofEarlier = await flow.tokens(client, earlier.session);
  // The browser was closed, which keeps the cookie of the device only.
  const now = await signIn(user.email, earlier.device);
  const ofNow = await flow.tokens(client, now.session);
  const elsewhere = await flow.tokens(client, (await signIn(user.email)).session);

  await signOut(now.session);

  const statusOf = async ({ refresh_token }: { readonly refresh_token: string }) =>
    (await flow.refresh(client, refresh_token)).status;
  expect(await statusOf(ofEarlier)).toBe(400);
  expect(await statusOf(ofNow)).toBe(400);
  expect(await statusOf(elsewhere)).toBe(200);
  const events = await publishedEventsOf(identity, user);
  expect(events).toEqual(
    Array.from({ length: 2 }, () => expect.objectContaining({ reason: 'logout' })),
  );
  const actions = (await activityOf(identity, user)).map(({ action }) => action);
  expect(actions.filter((action) => action === 'logout')).toHaveLength(1);
});

test('ends no sessions of another browser that shares the device', async () => {
  const flow = new CodeFlow(identity);
  const client = await flow.client();
  const user = await identity.people.user({ tenant: await identity.people.tenant() });
  const browsers = [await signIn(user.email), await signIn(user.email), await signIn(user.email)];
  const { database } = identity.context;
  expect(await database.device.count({ where: { userId: user.id } })).toBe(1);
  for (const [index, { session }] of browsers.entries()) {
    await flow.tokens(client, session);
    await signOut(session);
    const open = await database.session.count({ where: { userId: user.id, endedAt: null } });
    expect(open).toBe(2 - index);
  }
});

test('ends the session also if its device is no longer recorded', async () => {
  const { id, email } = await identity.people.user();
  const { session } = await signIn(email);
  const { database } = identity.context;
  await database.device.deleteMany({ where: { userId: id } });
  await signOut(session);
  expect(await database.session.count({ where: { userId: id, endedAt: null } })).toBe(0);
});
