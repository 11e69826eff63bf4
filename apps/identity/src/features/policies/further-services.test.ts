import { randomUUID } from 'node:crypto';
import type { Tenant } from '../../generated/prisma/client.ts';
import { CodeFlow, pkce } from '../../testing/code-flow.ts';
import { commandIn, commandsOf } from '../../testing/commands.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import type { Bearer } from '../../testing/population.ts';
import { serviceAccountsAs } from '../../testing/service-accounts.ts';

const PERMISSIONS = JSON.stringify({
  rooms: { 'bookings.list': 'List bookings', 'bookings.create': 'Book a room for oneself' },
});

const LIST = 'tenant.acme.rooms.bookings.list';

let identity: TestIdentity;
let flow: CodeFlow;
let tenant: Tenant;
let owner: Bearer;
beforeAll(async () => {
  identity = await startIdentity({ PERMISSIONS });
  flow = new CodeFlow(identity);
  tenant = await identity.people.tenant({ slug: 'acme' });
  owner = await identity.people.signIn(await identity.people.user({ tenant, role: 'owner' }));
});
afterAll(() => identity.stop());

const createRole = (actions: readonly string[], by = owner) =>
  identity.http
    .post(`/api/tenants/${tenant.id}/roles`)
    .set(by)
    .send({
      name: `Role ${randomUUID()}`,
      policies: actions.map((action) => ({ action, effect: 'allow' })),
    });
const changeMember = (user: { id: string }, body: object, by = owner) =>
  identity.http.put(`/api/tenants/${tenant.id}/members/${user.id}`).set(by).send(body);
const policiesOf = async (bearer: Bearer) =>
  (await identity.http.get('/api/policies').set(bearer)).body.data;

describe('a permission of a further service', () => {
  test('is listed with those of identity and CRM, and announced as a scope', async () => {
    const { body } = await identity.http.get('/api/permissions').set(owner).expect(200);
    expect(body.data).toContainEqual({
      name: 'tenant.{slug}.rooms.bookings.list',
      description: 'List bookings',
      system: false,
    });
    expect(body.meta.total).toBe(body.data.length);
    const metadata = await identity.http.get('/.well-known/openid-configuration').expect(200);
    expect(metadata.body.scopes_supported).toContain('tenant.*.rooms.bookings.create');
  });

  test.each([LIST, 'tenant.acme.rooms.bookings.*', 'tenant.*.rooms.*.list', 'tenant.*.*.*.list'])(
    'is granted to members by a role with the action %s',
    async (action) => {
      const { body } = await createRole([action]).expect(201);
      const user = await identity.people.user({ tenant, role: 'viewer' });
      await changeMember(user, { role: body.data.name }).expect(200);
      const bearer = await identity.people.signIn(user);
      expect(await policiesOf(bearer)).toEqual([{ action, effect: 'allow' }]);
      const explained = await identity.http
        .get(`/api/tenants/${tenant.id}/members/${user.id}/permissions`)
        .query({ permission: LIST })
        .set(owner)
        .expect(200);
      expect(explained.body.data).toMatchObject({ allowed: true, by: { action } });
    },
  );

  test('is denied to a member by a policy of their own', async () => {
    const user = await identity.people.user({ tenant, role: 'owner' });
    const deny = { action: 'tenant.acme.rooms.bookings.create', effect: 'deny' };
    await changeMember(user, { policies: [deny] }).expect(200);
    expect(await policiesOf(await identity.people.signIn(user))).toContainEqual(deny);
  });

  test.each([
    [
      'tenant.acme.roms.bookings.list',
      '"roms" as segment 3 after "tenant.acme" (known: crm, rooms)',
    ],
    [
      'tenant.acme.rooms.booking.list',
      '"booking" as segment 4 after "tenant.acme.rooms" (known: bookings)',
    ],
    [
      'tenant.acme.rooms.bookings.lst',
      '"lst" as segment 5 after "tenant.acme.rooms.bookings" (known: list, create)',
    ],
    ['tenant.other.rooms.bookings.list', '"other" as segment 2 after "tenant" (known: acme)'],
    ['tenant.acme.rooms.bookings', 'it is only the beginning of permissions such as'],
    ['tenant.acme.rooms.*', 'it covers no permission'],
    ['rooms.bookings.list', '"rooms" as segment 1 (known: identity, tenant)'],
  ])('is not meant by the action %s, which is 422 with the known ones', async (action, reason) => {
    const role = await createRole([action]).expect(422);
    expect(role.body.errors['policies.0.action']).toEqual([expect.stringContaining(reason)]);
    const user = await identity.people.user({ tenant, role: 'viewer' });
    const policies = [{ action, effect: 'allow' }];
    const member = await changeMember(user, { policies }).expect(422);
    expect(member.body.errors['policies.0.action']).toEqual([expect.stringContaining(reason)]);
  });

  test('is granted only by members who hold it, not by administrators without it', async () => {
    const administrator = await identity.people.user({ tenant, role: 'admin' });
    const bearer = await identity.people.signIn(administrator);
    const user = await identity.people.user({ tenant, role: 'viewer' });
    const policies = [{ action: LIST, effect: 'allow' }];
    for (const refused of [
      await createRole([LIST], bearer),
      await changeMember(user, { policies }, bearer),
    ]) {
      expect(refused.status).toBe(422);
      expect(refused.body.errors.policies).toEqual([
        expect.stringContaining(`this grants ${LIST}, which you do not hold yourself`),
      ]);
    }
    await changeMember(administrator, { policies }).expect(200);
    await changeMember(user, { policies }, bearer).expect(200);
    const wider = [{ action: 'tenant.acme.rooms.bookings.*', effect: 'allow' }];
    await changeMember(user, { policies: wider }, bearer).expect(422);
  });

  test('limits API keys, and is refused with a typing error', async () => {
    const accounts = await serviceAccountsAs(identity, tenant, 'owner');
    const account = await accounts.account('owner');
    const scopes = [LIST, 'tenant.*.rooms.bookings.*'];
    const { key } = await accounts.key(account, { scopes });
    const { body } = await identity.http.get('/api/user').set({ authorization: `Bearer ${key}` });
    expect(body.data.scopes).toEqual(scopes);
    const wrong = ['tenant.acme.roms.bookings.list', 'tenant.other.rooms.bookings.list'];
    const refused = await accounts.createKey(account, { scopes: [...wrong] }).expect(422);
    expect(refused.body.errors['scopes.0']).toEqual([expect.stringContaining('crm, rooms')]);
    await accounts.createKey(account, { scopes: wrong.slice(1) }).expect(422);
  });
});

describe('clients', () => {
  test('of system applications get its scopes within their own', async () => {
    const commands = commandsOf(identity);
    const created = await commands(
      'create-system-application',
      'rooms-report',
      'tenant.*.rooms.bookings.*',
      '--name',
      'Report',
    );
    const { client_id, client_secret } = created;
    const ask = (scope: string) =>
      identity.http
        .post('/api/oauth/token')
        .send({ grant_type: 'client_credentials', client_id, client_secret, scope });
    expect((await ask(LIST).expect(200)).body.scope).toBe(LIST);
    expect((await ask('tenant.acme.rooms.bookings.lst').expect(400)).body.error).toBe(
      'invalid_scope',
    );
    await expect(
      commands('create-system-application', 'wrong', 'tenant.*.roms.*.list', '--name', 'Wrong'),
    ).rejects.toThrow('(known: crm, rooms)');
  });

  test('of a seed document can have its scopes, with the same configuration', async () => {
    const seed = (scope: string) =>
      commandIn(
        { DATABASE_URL: identity.context.config.database.directUrl, PERMISSIONS },
        ['seed'],
        JSON.stringify({
          system_applications: [
            {
              client_id: 'seeded',
              name: 'Seeded',
              client_secret: 's'.repeat(32),
              scopes: [scope],
            },
          ],
        }),
      );
    expect((await seed('tenant.*.rooms.bookings.list')).error).toBe('');
    const refused = await seed('tenant.x.roms.bookings.list');
    expect([refused.code, refused.error]).toEqual([
      1,
      expect.stringContaining('(known: crm, rooms)'),
    ]);
  });

  test('of third parties ask for its scopes, which the consent page describes', async () => {
    const commands = commandsOf(identity);
    const redirectUri = 'https://planner.test/callback';
    const { client_secret } = await commands(
      'create-client',
      'planner',
      '--name',
      'Planner',
      '--redirect-uri',
      redirectUri,
      '--scope',
      'tenant.*.rooms.bookings.list',
    );
    await commands('update-client', 'planner', '--scope', 'tenant.*.rooms.bookings.*');
    const client = { clientId: 'planner', secret: client_secret, redirectUri };
    const cookie = await flow.signIn(await identity.people.user({ tenant, role: 'viewer' }));
    const ask = (scope: string) =>
      flow.authorize(flow.query(client, pkce().challenge, { scope }), cookie);
    const { pathname } = new URL((await ask(LIST)).headers.location ?? '');
    const page = await identity.http.get(pathname).set('cookie', cookie).expect(200);
    expect(page.text).toContain('<li>rooms: List bookings</li>');
    const refused = flow.told(await ask('tenant.*.rooms.bookings.lst'));
    expect(refused.get('error')).toBe('invalid_scope');
  });

  test('of a tenant and of the platform get its scopes of the tenant', async () => {
    const cookie = await flow.signIn(await identity.people.user({ tenant, role: 'owner' }));
    for (const client of [await flow.client(), await flow.client({ tenantId: tenant.id })]) {
      expect((await flow.tokens(client, cookie, { scope: LIST })).scope).toBe(LIST);
    }
    const own = await flow.client({ tenantId: tenant.id });
    const scope = 'tenant.other.rooms.bookings.list';
    const refused = await flow.authorize(flow.query(own, pkce().challenge, { scope }), cookie);
    expect(flow.told(refused).get('error')).toBe('invalid_scope');
  });
});
