import { until } from '@tessera/local-stack';
import { collide } from '../../testing/locks.ts';
import { startRegistration } from '../../testing/registration.ts';
import { lockUser } from '../../users/users.ts';

const PASSWORD = 'Another-horse-8-battery';

const { identity, mailbox } = await startRegistration();
let unique = 0;

const database = () => identity.context.database;
const post = (path: string, body: object) => identity.http.post(`/api/auth/${path}`).send(body);
const address = (): string => {
  unique += 1;
  return `claimed-${unique}@example.test`;
};
/** An address that an account has confirmed. */
const takenAddress = async () => (await identity.people.user({ data: { email: address() } })).email;
const mailsTo = async (email: string, count: number) =>
  until(async () => (await mailbox.to(email)).length >= count);

/** Registers with an address; waits for the mail, which goes to the account that has confirmed it, if any. */
const register = async (email: string) => {
  const form = { first_name: 'Nora', last_name: 'Neu', tenant_name: 'Neu', email };
  const password = { password: PASSWORD, password_confirmation: PASSWORD };
  await post('register', { ...form, ...password }).expect(202);
  await mailsTo(email, 1);
};

/** The data of an account that registered with an address, and has then moved to one of its own. */
const exportAfter = async (email: string, attempts: () => Promise<void>) => {
  await register(email);
  await attempts();
  const { body } = await post('login', { email, password: PASSWORD }).expect(200);
  const bearer = { authorization: `Bearer ${body.data.token}` };
  const own = address();
  await identity.http.put('/api/auth/email').set(bearer).send({ email: own }).expect(202);
  const { link } = await mailbox.next('email_verification', own);
  const token = link.searchParams.get('token');
  await identity.http.post('/api/auth/email/verify').set(bearer).send({ token }).expect(200);
  const { body: exported } = await identity.http
    .post('/api/me/data/export')
    .set(bearer)
    .expect(200);
  return { own, ...exported.data };
};

describe('the data of an account that has moved from another address does not show whether that has an account:', () => {
  /** What others do with an address. */
  const tryToSignIn = async (email: string) => {
    await post('login', { email, password: 'wrong' }).expect(401);
    await post('password/forgot', { email }).expect(200);
    await mailbox.next('password_reset', email);
    // Its failure is recorded after those of the address would have been.
    const { id: userId, email: last } = await identity.people.user();
    await post('login', { email: last, password: 'wrong' }).expect(401);
    const recorded = { where: { userId, action: 'login_failed' } };
    await until(async () => (await database().activityEntry.count(recorded)) === 1);
  };

  test('the log contains what the account has done, not what others have tried', async () => {
    const actionsIn = async (email: string) => {
      const { activity } = await exportAfter(email, () => tryToSignIn(email));
      return activity.map(({ action }: { action: string }) => action);
    };
    const free = await actionsIn(address());
    expect(free).toEqual([
      'registered',
      'login',
      'address_changed',
      'email_verified',
      'data_exported',
    ]);
    expect(await actionsIn((await takenAddress()) ?? '')).toEqual(free);
  });

  test('there is no link that was mailed to the other address', async () => {
    const linksAfter = async (email: string) => {
      const { own, mailed_links: links } = await exportAfter(email, () => tryToSignIn(email));
      return links.map((link: { purpose: string; email: string }) => [
        link.purpose,
        link.email === own,
      ]);
    };
    const free = await linksAfter(address());
    expect(free).toEqual([['email_verification', true]]);
    expect(await linksAfter((await takenAddress()) ?? '')).toEqual(free);
  });

  test.each([
    ['password/forgot', 'password_reset'],
    ['email/resend', 'email_verification'],
  ])('nor one that is requested by %s while the address changes', async (path, purpose) => {
    const [email, own] = [address(), address()];
    await register(email);
    const { id } = await database().user.findFirstOrThrow({ where: { email } });
    const links = { where: { userId: id, purpose } };
    const { count: issued } = await database().oneTimeToken.deleteMany(links);
    await collide(database(), () => post(path, { email }).expect(200), {
      hold: (tx) => lockUser(tx, id),
      change: (tx) => tx.user.update({ where: { id }, data: { email: own } }),
    });
    // Its mail is sent after that of the address would have been.
    const last = await identity.people.user();
    await post('password/forgot', { email: last.email }).expect(200);
    await mailbox.next('password_reset', last.email ?? '');
    expect(await database().oneTimeToken.count(links)).toBe(0);
    const mails = (await mailbox.to(email)).filter(({ kind }) => kind === purpose);
    expect(mails).toHaveLength(issued);
  });

  test('no other section has more entries or fields either', async () => {
    const sizesAfter = async (email: string) => {
      const { own: _, ...sections } = await exportAfter(email, () => tryToSignIn(email));
      return Object.entries(sections).map(([name, section]) => [
        name,
        Array.isArray(section) ? section.length : Object.keys(section ?? {}),
      ]);
    };
    expect(await sizesAfter((await takenAddress()) ?? '')).toEqual(await sizesAfter(address()));
  });
});
