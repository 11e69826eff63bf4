import type { Tenant, User } from '../../generated/prisma/client.ts';
import { Forms } from '../../testing/forms.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';

let identity: TestIdentity;
let forms: Forms;
let tenant: Tenant;
let user: User;
beforeAll(async () => {
  identity = await startIdentity();
  forms = new Forms(identity);
});
afterAll(() => identity.stop());
beforeEach(async () => {
  tenant = await identity.people.tenant();
  user = await identity.people.user({ tenant, role: 'member' });
});

const isMember = async () =>
  (await identity.context.database.membership.count({ where: { userId: user.id } })) === 1;

describe('the forms of organizations', () => {
  test('cannot switch to organizations of others or suspended ones', async () => {
    const cookies = await forms.signIn(user.email);
    const form = await forms.open('/account/tenants', cookies);
    const other = await identity.people.tenant();
    const answer = await forms.send('/account/tenants', form, { tenant_id: other.id });
    expect(answer.status).toBe(403);
    const { tenantId } = await identity.context.database.user.findUniqueOrThrow({
      where: { id: user.id },
    });
    expect(tenantId).toBe(tenant.id);
  });

  test('need the CSRF token of the page', async () => {
    const cookies = await forms.signIn(user.email);
    const path = `/account/tenants/leave?tenant=${tenant.id}`;
    const form = await forms.open(path, cookies);
    const answer = await forms.send(path, { ...form, token: 'forged' }, {});
    expect([answer.status, await isMember()]).toEqual([403, true]);
  });

  test('leave an organization once', async () => {
    const cookies = await forms.signIn(user.email);
    const path = `/account/tenants/leave?tenant=${tenant.id}`;
    const form = await forms.open(path, cookies);
    expect((await forms.send(path, form, {})).status).toBe(303);
    expect(await isMember()).toBe(false);
    expect((await forms.send(path, form, {})).headers.location).toBe('/account/tenants');
  });

  test('list all organizations if none is given, as after a sign-in', async () => {
    const cookie = await forms.signIn(user.email);
    const answer = await identity.http.get('/account/tenants/leave').redirects(0).set({ cookie });
    expect([answer.status, answer.headers.location]).toEqual([303, '/account/tenants']);
  });
});
