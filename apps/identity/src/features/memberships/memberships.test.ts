import { randomUUID } from 'node:crypto';
import type { Tenant, User } from '../../generated/prisma/client.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import { type Mailbox, openMailbox } from '../../testing/mailbox.ts';
import type { Bearer } from '../../testing/population.ts';

let identity: TestIdentity;
let mailbox: Mailbox;
let acme: Tenant;
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
  acme = await identity.people.tenant({ name: 'Acme' });
  user = await identity.people.user({ tenant: acme, role: 'member' });
  bearer = await identity.people.signIn(user);
});

const list = (as = bearer) => identity.http.get('/api/me/tenants').set(as);
const leave = (id: string, as = bearer) => identity.http.delete(`/api/me/tenants/${id}`).set(as);
const statusOf = async (as: Bearer) => (await identity.http.get('/api/me').set(as)).status;

describe('GET /api/me/tenants', () => {
  test('lists the caller’s tenants with their role', async () => {
    const { database } = identity.context;
    const zeta = await identity.people.tenant({ name: 'Zeta', status: 'suspended' });
    const roleId = await identity.people.role(zeta, 'identity.members.list');
    const { name: role } = await database.role.findUniqueOrThrow({ where: { id: roleId } });
    await database.membership.create({
      data: { tenantId: zeta.id, userId: user.id, roleId },
    });
    await identity.people.tenant();
    const joined_at = expect.stringMatching(/Z$/);
    expect((await list()).body.data).toEqual([
      {
        id: acme.id,
        slug: acme.slug,
        name: 'Acme',
        is_active: true,
        role: 'member',
        is_current: true,
        joined_at,
      },
      {
        id: zeta.id,
        slug: zeta.slug,
        name: 'Zeta',
        is_active: false,
        role,
        is_current: false,
        joined_at,
      },
    ]);
  });
});

describe('DELETE /api/me/tenants/{id}', () => {
  test('removes the membership and revokes tokens in the tenant, is recorded, mailed and published', async () => {
    const { database } = identity.context;
    const answer = await leave(acme.id);
    expect(answer.status).toBe(200);
    expect(await statusOf(bearer)).toBe(401);
    expect((await list(await identity.people.signIn(user))).body.data).toEqual([]);
    const noted = await database.activityEntry.findMany({
      where: { userId: user.id, action: 'tenant_left' },
    });
    expect(noted.map(({ tenantId }) => tenantId)).toEqual([acme.id]);
    const events = await database.outboxEvent.findMany({ where: { key: acme.id } });
    expect(events).toMatchObject([
      { topic: 'identity.policy.updated', payload: { data: { user_ids: [user.id] } } },
    ]);
    const mail = await mailbox.next('tenant_left', user.email ?? '');
    expect(mail.subject).toBe('You left Acme');
    expect(mail.link.pathname).toBe('/account/activity/not-me');
  });

  test('needs no permission, even if the role denies everything', async () => {
    const restricted = await identity.people.user({ tenant: acme, actions: ['!*'] });
    expect((await leave(acme.id, await identity.people.signIn(restricted))).status).toBe(200);
  });

  test('is 409 for the last owner until there is another owner', async () => {
    const owner = await identity.people.user({ tenant: acme, role: 'owner' });
    const as = await identity.people.signIn(owner);
    const refused = await leave(acme.id, as);
    expect([refused.status, refused.body.error]).toEqual([409, 'last_owner']);
    await identity.people.user({ tenant: acme, role: 'owner' });
    expect((await leave(acme.id, as)).status).toBe(200);
  });

  test('lets only one of two owners leave at the same time', async () => {
    const owners = await Promise.all(
      [1, 2].map(() => identity.people.user({ tenant: acme, role: 'owner' })),
    );
    const bearers = await Promise.all(owners.map((owner) => identity.people.signIn(owner)));
    const answers = await Promise.all(bearers.map((as) => leave(acme.id, as)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  test('is the same 404 for another tenant and an unknown one', async () => {
    const other = await identity.people.tenant();
    const answers = await Promise.all([leave(other.id), leave(randomUUID())]);
    expect(answers.map(({ status }) => status)).toEqual([404, 404]);
    expect(answers[0]?.body.message).toBe(answers[1]?.body.message);
  });
});
