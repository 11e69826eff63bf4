import { randomUUID } from 'node:crypto';
import type { Tenant, User } from '../../generated/prisma/client.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import { type Mailbox, openMailbox } from '../../testing/mailbox.ts';
import { type Bearer, PASSWORD } from '../../testing/population.ts';

let identity: TestIdentity;
let mailbox: Mailbox;
let tenant: Tenant;
let user: User;
let bearer: Bearer;
let other: Bearer;
beforeAll(async () => {
  mailbox = await openMailbox();
  identity = await startIdentity({ MAIL_DIRECTORY: mailbox.directory });
  tenant = await identity.people.tenant();
});
afterAll(async () => {
  await identity.stop();
  await mailbox.remove();
});
beforeEach(async () => {
  user = await identity.people.user({ tenant });
  other = await identity.people.signIn(user);
  bearer = await identity.people.signIn(user);
});

const NEW = 'Brand-new-horse-9-staple';
const post = (path: string, body: object, as: Bearer = bearer) =>
  identity.http.post(path).set(as).send(body);
const dispute = (body: object) => post('/api/profile/activity/dispute', body);
const disputeByLink = (body: object) => post('/api/profile/activity/dispute/link', body);
const passwords = {
  current_password: PASSWORD,
  new_password: NEW,
  new_password_confirmation: NEW,
};
const statusOf = async (as: Bearer) => (await identity.http.get('/api/me').set(as)).status;
const signInStatus = async (password: string) =>
  (await identity.http.post('/api/auth/login').send({ email: user.email, password })).status;
const entriesOf = (userId: string, action: string) =>
  identity.context.database.activityEntry.findMany({ where: { userId, action } });

describe('POST /api/profile/activity/dispute', () => {
  test('changes the password, ends all other sessions and trust in devices', async () => {
    const { database } = identity.context;
    const trustedUntil = new Date(Date.now() + 86_400_000);
    await database.device.updateMany({ where: { userId: user.id }, data: { trustedUntil } });
    expect((await dispute(passwords)).status).toBe(200);
    expect([await statusOf(bearer), await statusOf(other)]).toEqual([200, 401]);
    expect([await signInStatus(PASSWORD), await signInStatus(NEW)]).toEqual([401, 200]);
    const trusted = { userId: user.id, trustedUntil: { not: null } };
    expect(await database.device.count({ where: trusted })).toBe(0);
  });

  test('is recorded with the disputed entry, and confirmed by one mail', async () => {
    const [entry] = await entriesOf(user.id, 'login');
    await dispute({ ...passwords, activity_id: entry?.id }).expect(200);
    const noted = await entriesOf(user.id, 'activity_disputed');
    expect(noted.map(({ subjectId }) => subjectId)).toEqual([entry?.id]);
    expect(await entriesOf(user.id, 'password_changed')).toHaveLength(1);
    const mail = await mailbox.next('account_secured', user.email ?? '');
    expect(mail.subject).toBe('Your account was secured');
    expect(mail.text).toContain('Your password was changed');
    const kinds = (await mailbox.to(user.email ?? '')).map(({ kind }) => kind);
    expect(kinds).not.toContain('password_changed');
  });

  test('is 422 for a wrong password and a weak new one, and changes nothing', async () => {
    const weak = { new_password: 'weak', new_password_confirmation: 'weak' };
    const answer = await dispute({ current_password: 'wrong', ...weak });
    expect([answer.status, Object.keys(answer.body.errors)]).toEqual([
      422,
      ['current_password', 'new_password'],
    ]);
    expect(await statusOf(other)).toBe(200);
    expect(await entriesOf(user.id, 'activity_disputed')).toEqual([]);
  });

  test('is 404 for an entry of another user or an unknown one', async () => {
    const stranger = await identity.people.user({ tenant });
    await identity.people.signIn(stranger);
    const [foreign] = await entriesOf(stranger.id, 'login');
    for (const activity_id of [foreign?.id, randomUUID()]) {
      expect((await dispute({ ...passwords, activity_id })).status).toBe(404);
    }
    expect(await statusOf(other)).toBe(200);
  });
});

describe('POST /api/profile/activity/dispute/link', () => {
  test('ends all other sessions and trust in devices, and mails a link', async () => {
    expect((await disputeByLink({})).status).toBe(200);
    expect([await statusOf(bearer), await statusOf(other)]).toEqual([200, 401]);
    const told = await mailbox.next('account_secured', user.email ?? '');
    expect(told.text).toContain('a separate email with a link');
    const { link } = await mailbox.next('password_reset', user.email ?? '');
    expect(link.pathname).toBe('/password/reset');
    expect(await entriesOf(user.id, 'activity_disputed')).toHaveLength(1);
  });

  test('publishes the end of every session', async () => {
    const { database } = identity.context;
    await database.outboxEvent.deleteMany();
    await disputeByLink({}).expect(200);
    const events = await database.outboxEvent.findMany({ where: { key: user.id } });
    expect(events).toMatchObject([
      { payload: { data: { reason: 'activity_disputed', session_id: expect.any(String) } } },
    ]);
  });

  test('is 404 for an entry of another user', async () => {
    expect((await disputeByLink({ activity_id: randomUUID() })).status).toBe(404);
  });
});
