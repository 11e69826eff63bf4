import type { User } from '../generated/prisma/client.ts';
import { commandsOf } from '../testing/commands.ts';
import { startIdentity, type TestIdentity } from '../testing/identity.ts';
import { type Mailbox, openMailbox } from '../testing/mailbox.ts';
import { PASSWORD } from '../testing/population.ts';

let mailbox: Mailbox;
let identity: TestIdentity;
beforeAll(async () => {
  mailbox = await openMailbox();
  identity = await startIdentity({ MAIL_DIRECTORY: mailbox.directory });
});
afterAll(async () => {
  await identity.stop();
  await mailbox.remove();
});

let user: User;
let newEmail: string;
beforeEach(async () => {
  user = await identity.people.user({ tenant: await identity.people.tenant() });
  newEmail = `new-${user.id}@example.test`;
});

const change = (from: string | null, to: string) =>
  commandsOf(identity)('change-email', from ?? '', to);
const login = (email: string | null) =>
  identity.http.post('/api/auth/login').send({ email, password: PASSWORD });

describe('identity-admin change-email', () => {
  test('changes the address of a user, who signs in with the new one and is notified at both', async () => {
    const bearer = await identity.people.signIn(user);
    await change(user.email, newEmail.toUpperCase());
    await login(user.email).expect(401);
    await login(newEmail).expect(200);
    const { body } = await identity.http.get('/api/me').set(bearer).expect(200);
    expect(body.data.email).toBe(newEmail);
    for (const address of [user.email ?? '', newEmail]) {
      expect((await mailbox.next('email_changed', address)).text).toContain(newEmail);
    }
    const events = await identity.context.database.outboxEvent.findMany({
      where: { key: user.id, topic: 'identity.user.updated' },
    });
    expect(events).not.toEqual([]);
  });

  test('invalidates links that were sent to the old address', async () => {
    await identity.http.post('/api/auth/password/forgot').send({ email: user.email }).expect(200);
    const { database } = identity.context;
    const links = { where: { userId: user.id, purpose: 'password_reset', usedAt: null } } as const;
    await mailbox.next('password_reset', user.email ?? '');
    expect(await database.oneTimeToken.count(links)).toBe(1);
    await change(user.email, newEmail);
    expect(await database.oneTimeToken.count(links)).toBe(0);
  });

  test('is rejected for an unknown address, and for a new address that is taken', async () => {
    const other = await identity.people.user({ tenant: await identity.people.tenant() });
    await expect(change('nobody@example.test', newEmail)).rejects.toThrow('Nobody has confirmed');
    await expect(change(user.email, other.email ?? '')).rejects.toThrow('somebody has the address');
    await expect(change(user.email, user.email ?? '')).rejects.toThrow(
      'the address that they have',
    );
    await expect(change(user.email, 'no address')).rejects.toThrow('new_email');
    await login(user.email).expect(200);
  });
});
