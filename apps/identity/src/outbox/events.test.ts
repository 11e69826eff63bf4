import {
  asyncapiDocument,
  type EventType,
  eventTypes,
  type IdentityEvent,
  parseEvent,
} from '@tessera/contracts';
import { type Consumption, consume } from '@tessera/event-bus';
import { createLogger } from '@tessera/http-kit';
import { type Broker, startBroker, until } from '@tessera/local-stack';
import type { Tenant, User } from '../generated/prisma/client.ts';
import { CodeFlow } from '../testing/code-flow.ts';
import { type Mailbox, openMailbox } from '../testing/mailbox.ts';
import { type Bearer, PASSWORD } from '../testing/population.ts';
import { type ServiceAccounts, serviceAccountsOf } from '../testing/service-accounts.ts';
import { startTenantWorld, type TenantWorld } from '../testing/tenants.ts';

let broker: Broker;
let mailbox: Mailbox;
let world: TenantWorld;
let consumption: Consumption;
const arrived: IdentityEvent[] = [];
const unreadable: unknown[] = [];

beforeAll(async () => {
  // It rejects records that violate the AsyncAPI document, so the schemas are validated independently.
  broker = await startBroker({ asyncapi: asyncapiDocument() });
  mailbox = await openMailbox();
  consumption = consume({
    brokers: broker.brokers,
    clientId: 'test',
    groupId: 'test',
    topics: eventTypes,
    logger: createLogger('test', 'silent'),
    onConnected: () => undefined,
    onRecord({ topic, key, value }) {
      const parsed = parseEvent(topic, String(value));
      if (parsed.ok && parsed.event.subject === key) arrived.push(parsed.event);
      else unreadable.push([topic, key, parsed]);
      return undefined;
    },
  });
  await until(consumption.connected);
  world = await startTenantWorld({
    KAFKA_BROKERS: broker.brokers.join(','),
    MAIL_DIRECTORY: mailbox.directory,
    REGISTRATION_ENABLED: 'true',
  });
});
afterAll(async () => {
  await world?.stop();
  await consumption?.stop();
  await mailbox?.remove();
  await broker?.stop();
});

/** A user, their token and their tenant. */
interface Scene {
  readonly tenant: Tenant;
  readonly user: User;
  readonly bearer: Bearer;
  /** A user with all permissions in the tenant. */
  readonly owner: Bearer;
  readonly accounts: ServiceAccounts;
}

const http = () => world.identity.http;
const people = () => world.identity.people;
const send = (method: 'post' | 'put' | 'delete', path: string, as: Bearer, body?: object) =>
  http()[method](path).set(as).send(body);

/** An expected event: its type, and the part of its data that the test can know. */
type ExpectedEvent = [EventType, object];
const revokedFor = (reason: string, whose: object): ExpectedEvent => [
  'identity.token.revoked',
  { reason, ...whose },
];
const policies = ({ tenant }: Scene): ExpectedEvent => [
  'identity.policy.updated',
  { tenant_id: tenant.id, version: expect.any(Number) },
];
const status = ({ tenant }: Scene, to: string): ExpectedEvent => [
  'identity.tenant.status_changed',
  { tenant_id: tenant.id, status: to },
];
const ofUser = (
  type: 'identity.user.updated' | 'identity.user.deactivated',
  { user }: Scene,
): ExpectedEvent => [type, { user_id: user.id }];
const id = expect.any(String);

const anotherPassword = 'Another-horse-8-battery';
const confirmed = { password: anotherPassword, password_confirmation: anotherPassword };

const confirmationOf = async (email: string): Promise<void> => {
  const { link } = await mailbox.next('email_verification', email);
  const token = link.searchParams.get('token');
  await http()
    .post('/api/auth/email/verify')
    .send({ token, ...confirmed })
    .expect(200);
};

const refreshTwice = async ({ user }: Scene): Promise<void> => {
  const old = await people().signIn(user);
  for (const expected of [200, 422]) {
    await send('post', '/api/auth/refresh', old).expect(expected);
  }
};

const codeFlowTwice = async ({ user }: Scene): Promise<void> => {
  const flow = new CodeFlow(world.identity);
  const client = await flow.client();
  const { refresh_token } = await flow.tokens(client, await flow.signIn(user));
  for (const expected of [200, 400]) {
    await flow.refresh(client, refresh_token).expect(expected);
  }
};

/** The events of each change, by what the caller does. */
const triggers: [string, (scene: Scene) => Promise<unknown>, (scene: Scene) => ExpectedEvent[]][] =
  [
    [
      'signing out',
      ({ bearer }) => send('post', '/api/auth/logout', bearer).expect(200),
      ({ user }) => [revokedFor('logout', { session_id: id, user_id: user.id })],
    ],
    [
      'signing out everywhere',
      ({ bearer }) => send('post', '/api/auth/logout-all', bearer).expect(200),
      ({ user }) => [revokedFor('logout_all', { user_id: user.id })],
    ],
    [
      'renewing a token',
      ({ bearer }) => send('post', '/api/auth/refresh', bearer).expect(200),
      ({ user }) => [revokedFor('rotated', { token_id: id, user_id: user.id })],
    ],
    [
      'renewing a token that was replaced',
      refreshTwice,
      ({ user }) => [revokedFor('token_reused', { user_id: user.id })],
    ],
    [
      'a refresh token that was replaced',
      codeFlowTwice,
      ({ user }) => [revokedFor('token_reused', { user_id: user.id })],
    ],
    [
      'moving to another tenant',
      async ({ user, bearer }) => {
        const other = await people().tenant();
        await people().join(user, other, await people().role(other));
        await send('post', '/api/auth/switch-tenant', bearer, { tenant_id: other.id }).expect(200);
      },
      ({ user }) => [revokedFor('tenant_switched', { token_id: id, user_id: user.id })],
    ],
    [
      'changing the password',
      async ({ user, bearer }) => {
        await people().signIn(user);
        const body = {
          current_password: PASSWORD,
          new_password: anotherPassword,
          new_password_confirmation: anotherPassword,
        };
        await send('post', '/api/auth/password/change', bearer, body).expect(200);
      },
      ({ user }) => [revokedFor('password_changed', { session_id: id, user_id: user.id })],
    ],
    [
      'resetting the password',
      async ({ user: { email } }) => {
        await http().post('/api/auth/password/forgot').send({ email }).expect(200);
        const { link } = await mailbox.next('password_reset', email ?? '');
        const token = link.searchParams.get('token');
        const body = { email, token, ...confirmed };
        await http().post('/api/auth/password/reset').send(body).expect(200);
      },
      ({ user }) => [revokedFor('password_reset', { user_id: user.id })],
    ],
    [
      'revoking a device',
      async ({ bearer }) => {
        const { body } = await http().get('/api/devices').set(bearer).expect(200);
        await send('post', `/api/devices/${body.data[0].id}/revoke`, bearer).expect(200);
      },
      ({ user }) => [revokedFor('device_revoked', { session_id: id, user_id: user.id })],
    ],
    [
      'revoking an API key',
      async ({ accounts }) => {
        const account = await accounts.account('member');
        const { token_id } = await accounts.key(account);
        await accounts.revokeKey(account, token_id).expect(200);
      },
      () => [revokedFor('key_revoked', { token_id: id, user_id: id })],
    ],
    [
      'rotating an API key',
      async ({ accounts }) => {
        const account = await accounts.account('member');
        const { token_id } = await accounts.key(account);
        await accounts.rotateKey(account, token_id).expect(200);
      },
      () => [revokedFor('key_rotated', { token_id: id, user_id: id })],
    ],
    [
      'revoking a system token',
      async () => {
        const { clientId, secret, token } = await people().application('identity.tenants.list');
        const body = { client_id: clientId, client_secret: secret, token };
        await http().post('/api/oauth/revoke').send(body).expect(200);
      },
      () => [revokedFor('revoked', { token_id: id, client_id: id })],
    ],
    [
      'removing a member',
      ({ tenant, user, owner }) =>
        send('delete', `/api/tenants/${tenant.id}/members/${user.id}`, owner).expect(200),
      (scene) => [policies(scene), revokedFor('membership_removed', { user_id: scene.user.id })],
    ],
    [
      'changing the role of a member',
      ({ tenant, user, owner }) =>
        send('put', `/api/tenants/${tenant.id}/members/${user.id}`, owner, {
          role: 'viewer',
        }).expect(200),
      (scene) => [policies(scene)],
    ],
    [
      'changing what a role allows',
      async ({ tenant, owner }) => {
        const roles = `/api/tenants/${tenant.id}/roles`;
        const policy = { action: 'identity.members.list', effect: 'allow' };
        const made = await send('post', roles, owner, { name: 'clerk', policies: [policy] });
        const member = { role: 'clerk' };
        const other = await people().user({ tenant });
        const at = `/api/tenants/${tenant.id}/members/${other.id}`;
        await send('put', at, owner, member).expect(200);
        await send('put', `${roles}/${made.body.data.id}`, owner, { policies: [] }).expect(200);
      },
      (scene) => [policies(scene), policies(scene)],
    ],
    [
      'inviting somebody, which changes nothing yet',
      ({ tenant, owner }) =>
        send('post', '/api/auth/register', owner, {
          first_name: 'Nora',
          last_name: 'Neu',
          role: 'viewer',
          email: `nora@${tenant.slug}.test`,
        }).expect(202),
      () => [],
    ],
    [
      'changing the profile',
      ({ bearer }) => send('put', '/api/profile', bearer, { first_name: 'Augusta' }).expect(200),
      (scene) => [ofUser('identity.user.updated', scene)],
    ],
    [
      'registering, and confirming the address, which creates the tenant',
      async ({ tenant }) => {
        const email = `owner@${tenant.slug}.test`;
        const body = { first_name: 'Nora', last_name: 'Neu', email, ...confirmed };
        const named = { ...body, tenant_name: `Company of ${tenant.slug}` };
        await http().post('/api/auth/register').send(named).expect(202);
        await confirmationOf(email);
      },
      () => [
        ['identity.tenant.status_changed', { tenant_id: id, status: 'active' }],
        ['identity.policy.updated', { tenant_id: id, version: expect.any(Number) }],
        ['identity.user.updated', { user_id: id }],
      ],
    ],
    [
      'an administrator renaming a user',
      ({ user }) =>
        world.ask('put', `/api/admin/users/${user.id}`).send({ first_name: 'Augusta' }).expect(200),
      (scene) => [ofUser('identity.user.updated', scene)],
    ],
    [
      'an administrator deactivating a user',
      ({ user }) =>
        world.ask('put', `/api/admin/users/${user.id}`).send({ is_active: false }).expect(200),
      (scene) => [
        ofUser('identity.user.deactivated', scene),
        revokedFor('user_deactivated', { user_id: scene.user.id }),
      ],
    ],
    [
      'making a user a system administrator',
      ({ user }) =>
        world
          .ask('put', `/api/admin/users/${user.id}/system-admin`)
          .send({ is_system_admin: true })
          .expect(200),
      (scene) => [
        ofUser('identity.user.updated', scene),
        revokedFor('administrator_changed', { user_id: scene.user.id }),
      ],
    ],
    [
      'deleting a service account',
      async ({ accounts }) => {
        const account = await accounts.account('member');
        await accounts.key(account);
        await accounts.remove(account).expect(200);
      },
      (scene) => [
        policies(scene),
        ['identity.user.deactivated', { user_id: id }],
        revokedFor('service_account_deleted', { user_id: id }),
      ],
    ],
    [
      'suspending a tenant, and activating it',
      async ({ tenant }) => {
        await world.ask('post', `/api/tenants/${tenant.id}/suspend`).expect(200);
        await world.ask('post', `/api/tenants/${tenant.id}/activate`).expect(200);
      },
      (scene) => [status(scene, 'suspended'), status(scene, 'active')],
    ],
    [
      'creating a tenant',
      ({ tenant }) =>
        world
          .ask('post', '/api/tenants')
          .send({ name: 'New', slug: `${tenant.slug}-new`, plan: 'starter' })
          .expect(201),
      () => [['identity.tenant.status_changed', { tenant_id: id, status: 'provisioning' }]],
    ],
    [
      'deleting a tenant',
      ({ tenant }) => world.ask('delete', `/api/tenants/${tenant.id}`).expect(200),
      (scene) => [status(scene, 'deleting')],
    ],
  ];

const scene = async (): Promise<Scene> => {
  const tenant = await people().tenant();
  const user = await people().user({ tenant });
  const owner = await people().caller(tenant, '*');
  const bearer = await people().signIn(user);
  return {
    tenant,
    user,
    owner,
    bearer,
    accounts: serviceAccountsOf(world.identity, tenant, owner),
  };
};

describe('events are published for', () => {
  test.each(triggers)('%s', async (_, trigger, told) => {
    const known = await scene();
    const { database } = world.identity.context;
    const newest = await database.outboxEvent.findFirst({ orderBy: { id: 'desc' } });
    await trigger(known);
    const rows = await database.outboxEvent.findMany({ where: { id: { gt: newest?.id ?? 0n } } });
    const news = rows.map(({ topic, payload }) => [topic, (payload as { data: object }).data]);
    expect(news).toEqual(
      expect.arrayContaining(
        told(known).map(([topic, data]) => [topic, expect.objectContaining(data)]),
      ),
    );
  });
});

test('all five kinds of events are published, valid, and can be parsed by consumers', async () => {
  const { database } = world.identity.context;
  await until(
    async () => (await database.outboxEvent.count({ where: { publishedAt: null } })) === 0,
  );
  const stored = await database.outboxEvent.findMany();
  const ids = (events: readonly unknown[]) => new Set(events.map((e) => (e as IdentityEvent).id));
  const all = ids(stored.map(({ payload }) => payload));
  await until(() => ids(arrived).size === all.size);
  expect(ids(arrived)).toEqual(all);
  expect(unreadable).toEqual([]);
  expect([...new Set(arrived.map(({ type }) => type))].sort()).toEqual([...eventTypes].sort());
  const { body } = await http().get('/docs/events.json');
  expect(body).toEqual(asyncapiDocument());
});
