import { PASSWORD } from '../../testing/population.ts';
import { startRegistration } from '../../testing/registration.ts';

const NEW = 'Another-horse-8-battery';
const newPassword = { password: NEW, password_confirmation: NEW };

const { identity, mailbox } = await startRegistration();

const post = (path: string, body: object) => identity.http.post(`/api/auth/${path}`).send(body);
/** An account that has not confirmed its address. */
const claim = (email: string, isActive: boolean) =>
  identity.people.user({ data: { email, isActive, emailVerifiedAt: null } });

describe('a deactivated account that has not confirmed its address', () => {
  test('does not prevent an invitation to the address', async () => {
    const email = 'invited@example.test';
    await claim(email, false);
    const tenant = await identity.people.tenant();
    const owner = await identity.people.user({ tenant, role: 'owner' });
    await identity.http
      .post(`/api/tenants/${tenant.id}/members`)
      .set(await identity.people.signIn(owner))
      .send({ email, role: 'member' })
      .expect(202);
    const { link } = await mailbox.next('invitation', email);
    const given = { first_name: 'Nora', last_name: 'Neu', ...newPassword };
    const token = link.searchParams.get('token');
    await post('invitations/accept', { token, ...given }).expect(200);
    await post('login', { email, password: NEW }).expect(200);
    await post('login', { email, password: PASSWORD }).expect(401);
  });

  test('does not prevent the sign-in and password reset of an older account', async () => {
    const email = 'older@example.test';
    const { id } = await claim(email, true);
    await claim(email, false);
    const answer = await post('login', { email, password: PASSWORD }).expect(200);
    expect(answer.body.data.user.id).toBe(id);
    await post('password/forgot', { email }).expect(200);
    const { link } = await mailbox.next('password_reset', email);
    const token = link.searchParams.get('token');
    await post('password/reset', { email, token, ...newPassword }).expect(200);
    await post('login', { email, password: NEW }).expect(200);
  });

  test('cannot sign in or reset its password', async () => {
    const email = 'deactivated@example.test';
    const user = await claim(email, false);
    await post('login', { email, password: PASSWORD }).expect(401);
    await post('password/forgot', { email }).expect(200);
    // Its mail is sent after that of the deactivated account would have been.
    const other = await identity.people.user();
    await post('password/forgot', { email: other.email }).expect(200);
    await mailbox.next('password_reset', other.email ?? '');
    const where = { userId: user.id };
    expect(await identity.context.database.oneTimeToken.count({ where })).toBe(0);
  });
});
