import type { User } from '../../generated/prisma/client.ts';
import { CodeFlow } from '../../testing/code-flow.ts';
import { Forms } from '../../testing/forms.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import { bearerOf } from '../../testing/sessions.ts';
import { stepsOf } from '../../testing/sign-in.ts';

let identity: TestIdentity;
let forms: Forms;
let user: User;
let stranger: User;
beforeAll(async () => {
  identity = await startIdentity();
  forms = new Forms(identity);
});
afterAll(() => identity.stop());
beforeEach(async () => {
  const tenant = await identity.people.tenant();
  [user, stranger] = [
    await identity.people.user({ tenant }),
    await identity.people.user({ tenant }),
  ];
});

/** Ids of a session and a device of a user. */
const belongingsOf = async ({ id: userId }: User) => {
  const { database } = identity.context;
  const session = await database.session.findFirstOrThrow({ where: { userId } });
  return { session: session.id, device: session.deviceId ?? '' };
};
const openSessions = ({ id: userId }: User) =>
  identity.context.database.session.count({ where: { userId, endedAt: null } });

describe('the pages of devices', () => {
  test('do not show devices and sessions of others', async () => {
    await identity.people.signIn(stranger);
    const { session, device } = await belongingsOf(stranger);
    const cookies = await forms.signIn(user.email);
    const form = await forms.open('/account/devices', cookies);
    const own = (await belongingsOf(user)).device;
    for (const answer of [
      await identity.http.get(`/account/devices/${device}`).set('cookie', cookies).redirects(0),
      await forms.send('/account/devices', form, { device }),
      await forms.send('/account/devices', form, { session }),
      await forms.send('/account/devices', form, {}),
      await forms.send(`/account/devices/${own}`, form, { action: 'end', session }),
      await forms.send(`/account/devices/${device}`, form, { action: 'revoke' }),
    ]) {
      expect([answer.status, answer.headers.location]).toEqual([303, '/account/devices']);
    }
    expect(await openSessions(stranger)).toBe(1);
  });

  test('lead from a device that was removed in another tab to the others', async () => {
    await stepsOf(identity).login(user, { 'user-agent': 'Another browser' });
    const { device } = await belongingsOf(user);
    const form = await forms.open('/account/devices', await forms.signIn(user.email));
    const remove = () => forms.send('/account/devices', form, { device });
    expect((await remove()).headers.location).toBe('/account/devices?notice=device_signed_out');
    expect((await remove()).headers.location).toBe('/account/devices');
  });

  test.each([
    '/account/devices',
    '/account/devices/sign-out-others',
    '/account/devices/sign-out-everywhere',
  ])('reject a forged form: %s', async (path) => {
    await identity.people.signIn(user);
    const { device } = await belongingsOf(user);
    const cookies = await forms.signIn(user.email);
    const form = await forms.open(path, cookies);
    const answer = await forms.send(path, { ...form, token: 'forged' }, { device });
    expect(answer.status).toBe(403);
    const foreign = await identity.http
      .post(path)
      .set({ cookie: form.cookie, 'sec-fetch-site': 'cross-site' })
      .type('form')
      .send({ form_token: form.token, device });
    expect(foreign.status).toBe(403);
    expect(await openSessions(user)).toBe(2);
  });

  test('redirect signed-out users to the sign-in and back', async () => {
    const answer = await identity.http.get('/account/devices').redirects(0);
    expect([answer.status, answer.headers.location]).toEqual([
      303,
      '/sign-in?next=%2Faccount%2Fdevices',
    ]);
  });

  test('reject a name that is too long, and show the form again', async () => {
    const cookies = await forms.signIn(user.email);
    const { device } = await belongingsOf(user);
    const path = `/account/devices/${device}`;
    const form = await forms.open(path, cookies);
    const fields = { action: 'rename', device_name: 'x'.repeat(101) };
    const answer = await forms.send(path, form, fields);
    expect([answer.status, answer.text]).toEqual([
      422,
      expect.stringContaining('Enter a name of at most 100 characters.'),
    ]);
  });
});

describe('the pages of apps', () => {
  test('do not show applications that the user does not use', async () => {
    const flow = new CodeFlow(identity);
    const client = await flow.client();
    const { access_token } = await flow.tokens(client, await flow.signIn(stranger));
    const cookies = await forms.signIn(user.email);
    const path = `/account/apps/${client.clientId}`;
    const page = await identity.http.get(path).set('cookie', cookies).redirects(0);
    expect([page.status, page.headers.location]).toEqual([303, '/account/apps']);
    const form = await forms.open('/account/devices/sign-out-others', cookies);
    expect((await forms.send(path, form, {})).headers.location).toBe('/account/apps');
    expect((await identity.http.get('/api/user').set(bearerOf(access_token))).status).toBe(200);
  });
});
