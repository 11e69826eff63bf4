import { randomBytes } from 'node:crypto';
import type { Tenant, User } from './generated/prisma/client.ts';
import { startIdentity, type TestIdentity } from './testing/identity.ts';

let identity: TestIdentity;
let tenant: Tenant;
let user: User;
beforeAll(async () => {
  identity = await startIdentity();
  tenant = await identity.people.tenant();
  user = await identity.people.user({ tenant });
});
afterAll(() => identity.stop());

describe('the database itself rejects', () => {
  type Write = [what: string, write: () => Promise<unknown>];
  const database = () => identity.context.database;
  const role = { name: 'owner', tenantId: null };
  const writes: Write[] = [
    ['an unknown status', () => identity.people.tenant({ status: 'dormant' })],
    ['a slug that is not a single segment', () => identity.people.tenant({ slug: 'a.b' })],
    ['an action that is not a pattern', () => identity.people.role(tenant, 'ta*.x')],
    [
      'an unknown effect',
      () =>
        database().membershipPolicy.create({
          data: { tenantId: tenant.id, userId: user.id, action: '*', effect: 'maybe' },
        }),
    ],
    [
      'an address in upper case',
      () => identity.people.user({ data: { email: 'Ada@example.test' } }),
    ],
    ['a user without an address', () => identity.people.user({ data: { email: null } })],
    [
      'a service account that is a system administrator',
      () => identity.people.user({ data: { isServiceAccount: true, isSystemAdmin: true } }),
    ],
    [
      'a service account with a password',
      () =>
        database().user.create({
          data: { firstName: 'A', lastName: 'B', isServiceAccount: true, passwordHash: 'x' },
        }),
    ],
    [
      'a built-in role whose name is taken',
      async () => {
        await database().role.upsert({
          where: { id: tenant.id },
          create: role,
          update: {},
        });
        await database().role.create({ data: role });
      },
    ],
    [
      "another tenant's role",
      async () => {
        const other = await identity.people.tenant();
        await identity.people.join(
          await identity.people.user(),
          tenant,
          await identity.people.role(other),
        );
      },
    ],
    [
      'the deletion of a role that is in use',
      async () => {
        const { roleId } = await database().membership.findFirstOrThrow({
          where: { userId: user.id },
        });
        await database().role.delete({ where: { id: roleId } });
      },
    ],
    [
      'a secret that is not a digest',
      () =>
        database().session.create({
          data: {
            userId: user.id,
            secretHash: new Uint8Array(randomBytes(31)),
            expiresAt: new Date(),
          },
        }),
    ],
    [
      'an empty list of scopes',
      () =>
        database().token.create({
          data: {
            id: user.id,
            userId: user.id,
            clientId: 'x',
            use: 'api_key',
            scopes: [],
            expiresAt: new Date(),
          },
        }),
    ],
  ];

  test.each(writes)('%s', async (_what, write) => {
    await expect(write()).rejects.toThrow();
  });
});

test('every tenant has a policy version, and its deletion deletes all of its rows', async () => {
  const { database } = identity.context;
  const gone = await identity.people.tenant();
  const member = await identity.people.user({ tenant: gone, actions: ['*'] });
  await identity.people.signIn(member);
  const version = { where: { tenantId: gone.id } };
  expect((await database.policyVersion.findUniqueOrThrow(version)).version).toBe(1n);
  await database.tenant.delete({ where: { id: gone.id } });
  expect(await database.policyVersion.findUnique(version)).toBeNull();
  expect(await database.role.count(version)).toBe(0);
  expect(await database.token.count(version)).toBe(0);
  const left = await database.user.findUniqueOrThrow({ where: { id: member.id } });
  expect(left.tenantId).toBeNull();
});
