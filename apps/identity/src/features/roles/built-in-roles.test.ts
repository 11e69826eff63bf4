import { builtInRoles, builtInRolesRevision } from '@tessera/contracts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import { ensureBuiltInRoles } from './built-in-roles.ts';

let identity: TestIdentity;
beforeEach(async () => {
  identity = await startIdentity();
});
afterEach(() => identity.stop());

const database = () => identity.context.database;

const stored = async (): Promise<Record<string, string[]>> => {
  const roles = await database().role.findMany({
    where: { tenantId: null },
    include: { policies: true },
  });
  return Object.fromEntries(
    roles.map(({ name, policies }) => [
      name,
      policies.map((p) => `${p.effect} ${p.action}`).sort(),
    ]),
  );
};
const expected = Object.fromEntries(
  Object.values(builtInRoles).map(({ name, policies }) => [
    name,
    policies.map((p) => `${p.effect} ${p.action}`).sort(),
  ]),
);
const roleId = async (name: string): Promise<string> =>
  (await database().role.findFirstOrThrow({ where: { name, tenantId: null } })).id;

describe('the built-in roles', () => {
  test('exist after the start, once however many replicas start together', async () => {
    expect(await stored()).toEqual(expected);
    await database().rolePolicy.deleteMany();
    await database().role.deleteMany();
    await Promise.all(Array.from({ length: 4 }, () => ensureBuiltInRoles(database())));
    expect(await stored()).toEqual(expected);
  });

  test('are updated to the release, and the tenants of their members are notified', async () => {
    const [concerned, other] = [await identity.people.tenant(), await identity.people.tenant()];
    await identity.people.user({ tenant: concerned, roleId: await roleId('viewer') });
    await identity.people.user({ tenant: other, roleId: await roleId('owner') });
    await database().rolePolicy.deleteMany({ where: { roleId: await roleId('viewer') } });

    await ensureBuiltInRoles(database());
    expect(await stored()).toEqual(expected);
    const news = await database().outboxEvent.findMany();
    expect(news.map(({ payload }) => JSON.parse(JSON.stringify(payload)).data)).toEqual([
      { tenant_id: concerned.id, version: 2, user_ids: null },
    ]);
  });

  test('of a later release are left unchanged by a process of an earlier one', async () => {
    const { viewer } = builtInRoles;
    const fewer = { ...builtInRoles, viewer: { ...viewer, policies: viewer.policies.slice(1) } };
    const later = builtInRolesRevision + 1;
    await ensureBuiltInRoles(database(), { roles: builtInRoles, revision: later });
    await ensureBuiltInRoles(database(), { roles: fewer, revision: builtInRolesRevision });
    expect(await stored()).toEqual(expected);

    await ensureBuiltInRoles(database(), { roles: fewer, revision: later + 1 });
    const { viewer: left } = await stored();
    expect(left).toHaveLength(viewer.policies.length - 1);
    await ensureBuiltInRoles(database());
    expect((await stored()).viewer).toEqual(left);
  });

  test('that are up to date cause no write', async () => {
    const tenant = await identity.people.tenant();
    await identity.people.user({ tenant, roleId: await roleId('viewer') });
    const versions = () => database().policyVersion.findMany({ orderBy: { tenantId: 'asc' } });
    const before = await versions();
    await ensureBuiltInRoles(database());
    expect(await versions()).toEqual(before);
    expect(await database().outboxEvent.count()).toBe(0);
  });
});
