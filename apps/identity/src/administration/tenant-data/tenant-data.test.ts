import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readTables } from '@tessera/database-kit';
import { commandsOf } from '../../testing/commands.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import { exportedTables, leftOutTables } from './exported-tables.ts';

let identity: TestIdentity;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tessera-identity-tenant-'));
  identity = await startIdentity();
});
afterAll(async () => {
  await identity.stop();
  await rm(folder, { recursive: true });
});

const rowsOf = async (path: string, table: string): Promise<Record<string, unknown>[]> => {
  const text = await readFile(join(path, 'tables', `${table}.jsonl`), 'utf8');
  return text.split('\n').flatMap((line) => (line ? [JSON.parse(line)] : []));
};

test('A tenant is exported with members, roles and policies, without secrets or data of other tenants', async () => {
  const { people, context } = identity;
  const tenant = await people.tenant({ name: 'Analytical Engines' });
  const owner = await people.user({ tenant, role: 'owner' });
  const member = await people.user({ tenant, actions: ['tenant.*.crm.contacts.view'] });
  const stranger = await people.user({ tenant: await people.tenant(), role: 'owner' });
  await context.database.membershipPolicy.create({
    data: { tenantId: tenant.id, userId: member.id, action: 'identity.roles.list', effect: 'deny' },
  });
  await context.database.oneTimeToken.create({
    data: {
      purpose: 'invitation',
      email: 'guest@example.test',
      tenantId: tenant.id,
      roleId: await people.builtInRole('member'),
      inviterId: owner.id,
      tokenHash: new Uint8Array(32).fill(0xab),
      expiresAt: new Date(Date.now() + 86_400_000),
    },
  });
  await context.database.oAuthClient.create({
    data: {
      clientId: `tenant-${tenant.slug}-panel`,
      name: 'Panel',
      redirectUris: [],
      tenantId: tenant.id,
      secretHash: new Uint8Array(32).fill(0xcd),
    },
  });
  await context.database.activityEntry.create({
    data: {
      userId: owner.id,
      tenantId: tenant.id,
      action: 'profile_updated',
      ipAddress: '10.0.0.1',
    },
  });
  const operator = await people.user({ data: { isSystemAdmin: true } });
  await context.database.activityEntry.create({
    data: {
      userId: operator.id,
      tenantId: tenant.id,
      action: 'member_updated',
      ipAddress: '10.9.9.9',
    },
  });

  const target = join(folder, 'acme');
  const result = await commandsOf(identity)('export-tenant', tenant.slug, target);
  expect(result).toEqual({ tenant_id: tenant.id, folder: target, rows: expect.any(Number) });
  const manifest = JSON.parse(await readFile(join(target, 'manifest.json'), 'utf8'));
  expect(manifest).toMatchObject({ format_version: 1, tenant_id: tenant.id });

  const users = await rowsOf(target, 'users');
  expect(users.map(({ id }) => id).sort()).toEqual([owner.id, member.id].sort());
  expect(await rowsOf(target, 'memberships')).toContainEqual(
    expect.objectContaining({ user_id: owner.id, role: 'owner' }),
  );
  expect(await rowsOf(target, 'role_policies')).toContainEqual(
    expect.objectContaining({ action: 'tenant.*.crm.contacts.view', effect: 'allow' }),
  );
  expect(await rowsOf(target, 'membership_policies')).toEqual([
    { tenant_id: tenant.id, user_id: member.id, action: 'identity.roles.list', effect: 'deny' },
  ]);
  expect(await rowsOf(target, 'activity_entries')).toContainEqual(
    expect.objectContaining({ user_id: owner.id, ip_address: '10.0.0.1' }),
  );
  const { rows: hashes } = await context.pool.query<{ hash: string }>(
    'SELECT password_hash AS hash FROM identity.users WHERE password_hash IS NOT NULL',
  );
  const secrets = [
    ...hashes.map(({ hash }) => hash),
    'abababab',
    'cdcdcdcd',
    stranger.id,
    operator.id,
    '10.9.9.9',
  ];
  for (const name of await readdir(join(target, 'tables'))) {
    const text = await readFile(join(target, 'tables', name), 'utf8');
    expect([name, secrets.filter((secret) => text.includes(secret))]).toEqual([name, []]);
    const count = text.split('\n').length - 1;
    expect(manifest.tables[name.replace('.jsonl', '')].rows).toBe(count);
  }
  await expect(commandsOf(identity)('export-tenant', tenant.id, target)).rejects.toThrow(
    'not empty',
  );
  await expect(commandsOf(identity)('export-tenant', 'nobody', target)).rejects.toThrow(
    'There is no tenant nobody.',
  );
});

test('The export contains every column of every table, or says why not', async () => {
  const tables = await readTables(identity.context.pool, 'identity');
  const decided = (name: string): string[] => {
    const { columns = [], leftOut = {} } = exportedTables[name] ?? {};
    const exported = columns.map((column) => (typeof column === 'string' ? column : column[0]));
    return [...exported, ...Object.keys(leftOut)].sort();
  };
  const known = [...Object.keys(exportedTables), ...Object.keys(leftOutTables)];
  expect(known.sort()).toEqual(tables.map(({ name }) => name).sort());
  for (const { name, columns } of tables) {
    if (name in leftOutTables) continue;
    expect([name, decided(name)]).toEqual([name, columns.map((column) => column.name).sort()]);
  }
});
