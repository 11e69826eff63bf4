import { until } from '@tessera/local-stack';
import type { Tenant, User } from '../../generated/prisma/client.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import { collide } from '../../testing/locks.ts';
import { type Mailbox, openMailbox } from '../../testing/mailbox.ts';
import type { Bearer } from '../../testing/population.ts';
import { serviceAccountsOf } from '../../testing/service-accounts.ts';
import { setAddress } from '../email-change/address-change.ts';

const PASSWORD = 'Another-horse-8-battery';
const person = {
  first_name: 'Nora',
  last_name: 'Neu',
  password: PASSWORD,
  password_confirmation: PASSWORD,
};
const UNKNOWN = '01890a5d-ac96-774b-bcce-b302099a8057';

let identity: TestIdentity;
let mailbox: Mailbox;
let tenant: Tenant;
let owner: User;
let bearer: Bearer;
let unique = 0;
beforeAll(async () => {
  mailbox = await openMailbox();
  identity = await startIdentity({ MAIL_DIRECTORY: mailbox.directory });
});
afterAll(async () => {
  await identity.stop();
  await mailbox.remove();
});
beforeEach(async () => {
  tenant = await identity.people.tenant();
  owner = await identity.people.user({ tenant, role: 'owner' });
  bearer = await identity.people.signIn(owner);
});

interface Listed {
  readonly id: string;
  readonly email: string;
  readonly role: string;
}

const database = () => identity.context.database;
const address = (): string => {
  unique += 1;
  return `pending-${unique}@example.test`;
};
const invite = (email: string, role = 'member', by: Bearer = bearer) =>
  identity.http.post(`/api/tenants/${tenant.id}/members`).set(by).send({ email, role });
const at = (id?: string, of: Tenant = tenant): string =>
  `/api/tenants/${of.id}/invitations${id === undefined ? '' : `/${id}`}`;
const get = (query = '', by: Bearer = bearer) => identity.http.get(`${at()}${query}`).set(by);
const list = async (by: Bearer = bearer): Promise<Listed[]> =>
  (await get('', by).expect(200)).body.data;
const withdraw = (id: string, by: Bearer = bearer) => identity.http.delete(at(id)).set(by);
const accept = (token: string) =>
  identity.http.post('/api/auth/invitations/accept').send({ token, ...person });

/** The only invitation of the address, once its mail was sent. */
const invited = async (
  role?: string,
  by?: Bearer,
): Promise<{ readonly id: string; readonly email: string; readonly token: string }> => {
  const email = address();
  await invite(email, role, by).expect(202);
  const { link } = await mailbox.next('invitation', email);
  const { id } = await database().oneTimeToken.findFirstOrThrow({ where: { email } });
  return { id, email, token: link.searchParams.get('token') ?? '' };
};
const idOf = async (email: string): Promise<string> =>
  (await database().user.findFirstOrThrow({ where: { email } })).id;
const administrator = async (): Promise<Bearer> =>
  identity.people.signIn(await identity.people.user({ tenant, role: 'admin' }));

describe('the list of pending invitations', () => {
  test('shows what the inviter entered, and who they are, in pages', async () => {
    const { id, email } = await invited('viewer');
    await invited();
    const answer = await get('?per_page=1&sort=created_at').expect(200);
    expect(answer.body).toEqual({
      success: true,
      data: [
        {
          id,
          email,
          name: null,
          role: 'viewer',
          invited_by: { user_id: owner.id, name: 'Ada Tester' },
          created_at: expect.any(String),
          expires_at: expect.any(String),
        },
      ],
      meta: { current_page: 1, last_page: 2, per_page: 1, total: 2 },
    });
    const beyond = await get('?per_page=1&page=9').expect(200);
    expect(beyond.body).toMatchObject({ data: [{ id }], meta: { current_page: 2 } });
  });

  test('contains invitations by registration, with the name, which can be searched for', async () => {
    const email = address();
    await identity.http
      .post('/api/auth/register')
      .set(bearer)
      .send({ first_name: 'Nora', last_name: 'Neu', email })
      .expect(202);
    await mailbox.next('invitation', email);
    const other = await invited();
    const { body } = await get('?search=neu%20nora').expect(200);
    expect(body.data).toMatchObject([{ email, name: 'Nora Neu', role: 'member' }]);
    const byAddress = await get(`?search=${other.email}`).expect(200);
    expect(byAddress.body.data).toMatchObject([{ id: other.id }]);
  });

  test('contains neither accepted nor expired invitations, nor those of another tenant', async () => {
    const accepted = await invited();
    await accept(accepted.token).expect(200);
    const expired = await invited();
    await database().oneTimeToken.updateMany({
      where: { id: expired.id },
      data: { expiresAt: new Date(Date.now() - 1) },
    });
    const { id } = await invited();
    expect(await list()).toMatchObject([{ id }]);
    tenant = await identity.people.tenant();
    bearer = await identity.people.caller(tenant, '*');
    expect(await list()).toEqual([]);
  });

  test('is the same whether or not an address has an account, even a deactivated one', async () => {
    const known = await identity.people.user();
    const deactivated = await identity.people.user({ data: { isActive: false } });
    const emails = [address(), known.email ?? '', deactivated.email ?? ''];
    for (const email of emails) await invite(email).expect(202);
    await until(async () => (await list()).length === emails.length);
    const found = await list();
    expect(found.map(({ email }) => email).sort()).toEqual(emails.sort());
    const same = { name: null, role: 'member', invited_by: { user_id: owner.id } };
    for (const invitation of found) expect(invitation).toMatchObject(same);
    // Mailed after the others would have been.
    await invited();
    expect(await mailbox.to(deactivated.email ?? '')).toEqual([]);
  });

  test('contains no address of a member', async () => {
    await invite(owner.email ?? '').expect(202);
    // Created after that of the member would have been.
    const { id } = await invited();
    expect(await list()).toMatchObject([{ id }]);
  });

  test('has one invitation for an address, the last one', async () => {
    const first = await invited();
    await invite(first.email, 'viewer').expect(202);
    await mailbox.next('invitation', first.email, 2);
    const [second, ...others] = await list();
    expect([second?.role, others]).toEqual(['viewer', []]);
    await withdraw(first.id).expect(404);
    await withdraw(second?.id ?? '').expect(200);
  });

  test('names no inviter who has left, who operates the platform, or who is an application', async () => {
    const colleague = await identity.people.user({ tenant, role: 'admin' });
    await invited('member', await identity.people.signIn(colleague));
    const where = { tenantId_userId: { tenantId: tenant.id, userId: colleague.id } };
    await database().membership.delete({ where });
    const operator = await identity.people.user({ data: { isSystemAdmin: true } });
    await invited('member', await identity.people.signIn(operator));
    await database().role.create({ data: { tenantId: tenant.id, name: 'guest' } });
    await invited('guest', (await identity.people.application('identity.members.create')).bearer);
    const found = await list();
    expect(found).toMatchObject([{ invited_by: null }, { invited_by: null }, { invited_by: null }]);
  });

  test('names service accounts that invite', async () => {
    const accounts = serviceAccountsOf(identity, tenant, bearer);
    const account = await accounts.account('admin');
    const { key } = await accounts.key(account);
    await invited('member', { authorization: `Bearer ${key}` });
    expect(await list()).toMatchObject([{ invited_by: { user_id: expect.any(String) } }]);
  });

  test('is for those who may invite', async () => {
    const { id } = await invited();
    const member = await identity.people.caller(tenant, 'identity.members.list');
    expect((await get('', member).expect(403)).body).toMatchObject({
      required_permission: 'identity.members.create',
    });
    await withdraw(id, member).expect(403);
    const create = await identity.people.caller(tenant, 'identity.members.create');
    expect((await get('', create).expect(403)).body).toMatchObject({
      required_permission: 'identity.members.list',
    });
    const inviting = await identity.people.caller(
      tenant,
      'identity.members.create',
      'identity.members.list',
    );
    expect(await list(inviting)).toMatchObject([{ id }]);
  });

  test('does not show that an account has left the address', async () => {
    const user = await identity.people.user();
    await invite(user.email ?? '').expect(202);
    const { link } = await mailbox.next('invitation', user.email ?? '');
    const before = await list();
    await database().$transaction((tx) => setAddress(tx, user, address()));
    expect(await list()).toEqual(before);
    await accept(link.searchParams.get('token') ?? '').expect(422);
  });
});

describe('withdrawing an invitation', () => {
  test('ends its link at once, and is recorded', async () => {
    const { id, token, email } = await invited();
    const answer = await withdraw(id).expect(200);
    expect(answer.body).toEqual({ success: true, message: expect.any(String) });
    const refused = await accept(token).expect(422);
    const invalid = await accept('nonsense').expect(422);
    expect(refused.body).toEqual(invalid.body);
    expect(await list()).toEqual([]);
    expect(await database().oneTimeToken.count({ where: { email } })).toBe(0);
    const entry = await database().activityEntry.findFirstOrThrow({
      where: { tenantId: tenant.id, action: 'invitation_withdrawn' },
    });
    expect(entry).toMatchObject({ userId: owner.id, subjectId: id });
  });

  test('is 404 for one that is unknown, withdrawn, accepted, expired or of another tenant', async () => {
    const withdrawn = await invited();
    await withdraw(withdrawn.id).expect(200);
    const accepted = await invited();
    await accept(accepted.token).expect(200);
    const expired = await invited();
    await database().oneTimeToken.updateMany({
      where: { id: expired.id },
      data: { expiresAt: new Date(Date.now() - 1) },
    });
    for (const { id } of [{ id: UNKNOWN }, { id: 'nonsense' }, withdrawn, accepted, expired]) {
      expect((await withdraw(id).expect(404)).body.error).toBe('not_found');
    }
    const { id, token } = await invited();
    const other = await identity.people.tenant();
    const stranger = await identity.people.caller(other, '*');
    await identity.http.delete(at(id, other)).set(stranger).expect(404);
    await identity.http.delete(at(id)).set(stranger).expect(403);
    await accept(token).expect(200);
  });

  test('does not end other links, such as those of password resets', async () => {
    const { email, id: userId } = await identity.people.user({ tenant });
    await identity.http.post('/api/auth/password/forgot').send({ email }).expect(200);
    await mailbox.next('password_reset', email ?? '');
    const { id } = await database().oneTimeToken.findFirstOrThrow({ where: { userId } });
    await withdraw(id).expect(404);
    expect(await database().oneTimeToken.count({ where: { id, usedAt: null } })).toBe(1);
  });

  test('requires the permissions of its role', async () => {
    const { id, token } = await invited('owner');
    const answer = await withdraw(id, await administrator()).expect(403);
    expect(answer.body.error).toBe('role_holds_more');
    await accept(token).expect(200);
    const own = await invited('viewer');
    await withdraw(own.id, await administrator()).expect(200);
  });

  test('requires them also of somebody who invites the address to another role', async () => {
    const { id, email, token } = await invited('owner');
    await invite(email, 'viewer', await administrator()).expect(202);
    await mailbox.next('invitation', email, 2);
    const roles = (await list()).map(({ role }) => role);
    expect(roles.sort()).toEqual(['owner', 'viewer']);
    await accept(token).expect(200);
    // Accepting one ends the others.
    expect(await list()).toEqual([]);
    await withdraw(id).expect(404);
  });

  test('lets the address be invited again', async () => {
    const { id, email } = await invited();
    await withdraw(id).expect(200);
    await invite(email).expect(202);
    const { link } = await mailbox.next('invitation', email, 2);
    await accept(link.searchParams.get('token') ?? '').expect(200);
  });

  test('while it is being accepted: the first one wins', async () => {
    const early = await invited();
    const { status } = await collide(database(), () => withdraw(early.id), {
      // What accepting does first, and then commits.
      hold: (tx) =>
        tx.oneTimeToken.updateMany({ where: { id: early.id }, data: { usedAt: new Date() } }),
      change: async () => {},
    });
    expect(status).toBe(404);
    const late = await invited();
    const answer = await collide(database(), () => accept(late.token), {
      hold: (tx) => tx.oneTimeToken.deleteMany({ where: { id: late.id } }),
      change: async () => {},
    });
    expect(answer.status).toBe(422);
    expect(await database().user.count({ where: { email: late.email } })).toBe(0);
  });

  test('at the same time as accepting has one consistent outcome', async () => {
    for (let index = 0; index < 5; index += 1) {
      const { id, token, email } = await invited();
      const [withdrawn, accepted] = await Promise.all([withdraw(id), accept(token)]);
      const isMember = (await database().membership.count({ where: { user: { email } } })) === 1;
      expect([withdrawn.status, accepted.status, isMember]).toEqual(
        isMember ? [404, 200, true] : [200, 422, false],
      );
    }
  });

  test('succeeds once, also for five concurrent requests', async () => {
    const { id } = await invited();
    const answers = await Promise.all(Array.from({ length: 5 }, () => withdraw(id)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404, 404]);
    const where = { tenantId: tenant.id, action: 'invitation_withdrawn' };
    expect(await database().activityEntry.count({ where })).toBe(1);
  });
});

describe('invitations to a role', () => {
  const roles = () => `/api/tenants/${tenant.id}/roles`;
  const role = async (name: string): Promise<string> => {
    const { body } = await identity.http.post(roles()).set(bearer).send({ name }).expect(201);
    return body.data.id;
  };
  const removeRole = (id: string) => identity.http.delete(`${roles()}/${id}`).set(bearer);

  test('are withdrawn when it is deleted, and the answer and the log say how many', async () => {
    const guest = await role('guest');
    const [first, second] = [await invited('guest'), await invited('guest')];
    const kept = await invited('member');
    // Neither of these is pending any more.
    const accepted = await invited('guest');
    await accept(accepted.token).expect(200);
    await identity.http
      .put(`/api/tenants/${tenant.id}/members/${await idOf(accepted.email)}`)
      .set(bearer)
      .send({ role: 'viewer' })
      .expect(200);
    const expired = await invited('guest');
    const where = { id: expired.id };
    await database().oneTimeToken.updateMany({ where, data: { expiresAt: new Date(0) } });

    const { body } = await removeRole(guest).expect(200);
    expect(body.message).toBe(
      'The role has been deleted. 2 pending invitations have been withdrawn.',
    );
    expect((await list()).map(({ id }) => id)).toEqual([kept.id]);
    for (const { token } of [first, second, expired]) await accept(token).expect(422);
    await accept(kept.token).expect(200);
    const entry = await database().activityEntry.findFirstOrThrow({
      where: { action: 'role_deleted', subjectId: guest },
    });
    expect(entry.changes).toMatchObject({ pending_invitations: { from: 2, to: 0 } });
  });

  test('are not mentioned if there are none, and one is counted as one', async () => {
    const [unused, used] = [await role('unused'), await role('used')];
    const { body } = await removeRole(unused).expect(200);
    expect(body.message).toBe('The role has been deleted.');
    await invited('used');
    const { message } = (await removeRole(used).expect(200)).body;
    expect(message).toBe('The role has been deleted. 1 pending invitation has been withdrawn.');
  });

  test('stay if members have the role, or if it is renamed', async () => {
    const guest = await role('guest');
    await identity.people.user({ tenant, roleId: guest });
    const { id, token } = await invited('guest');
    expect((await removeRole(guest).expect(409)).body.error).toBe('role_in_use');
    await identity.http
      .put(`${roles()}/${guest}`)
      .set(bearer)
      .send({ name: 'Visitor' })
      .expect(200);
    expect(await list()).toMatchObject([{ id, role: 'Visitor' }]);
    await accept(token).expect(200);
  });
});

test('the invitations that a member sent are withdrawn when the member is removed or leaves', async () => {
  const colleague = await identity.people.user({ tenant, role: 'admin' });
  const by = await identity.people.signIn(colleague);
  const { token } = await invited('member', by);
  const kept = await invited('member');
  const { body } = await identity.http
    .delete(`/api/tenants/${tenant.id}/members/${colleague.id}`)
    .set(bearer)
    .expect(200);
  expect(body.message).toBe(
    'The member has been removed. 1 pending invitation has been withdrawn.',
  );
  expect((await list()).map(({ id }) => id)).toEqual([kept.id]);
  // Also if the member comes back.
  await identity.people.join(colleague, tenant, await identity.people.builtInRole('admin'));
  await accept(token).expect(422);

  const again = await identity.people.signIn(colleague);
  const { token: second } = await invited('member', again);
  await identity.http.delete(`/api/me/tenants/${tenant.id}`).set(again).expect(200);
  await accept(second).expect(422);
});
