import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readTables } from '@tessera/database-kit';
import { commandsOf } from '../../testing/commands.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';

let identity: TestIdentity;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tessera-identity-person-'));
  identity = await startIdentity();
});
afterAll(async () => {
  await identity.stop();
  await rm(folder, { recursive: true });
});

/** The tables with a row that contains the text in any column, in any case. */
const tablesWith = async (text: string): Promise<string[]> => {
  const tables = await readTables(identity.context.pool, 'identity');
  const queries = tables.map(
    ({ name }) => `SELECT '${name}' AS name WHERE EXISTS (
      SELECT FROM identity.${name} AS searched WHERE strpos(lower(searched::text), lower($1)) > 0)`,
  );
  const { rows } = await identity.context.pool.query(queries.join(' UNION ALL '), [text]);
  return rows.map(({ name }) => name);
};

test('A user is exported, and then deleted so that no table contains their name or address', async () => {
  const { people, context } = identity;
  const tenant = await people.tenant({ name: 'Analytical Engines' });
  const owner = await people.user({ tenant, role: 'owner' });
  const email = 'ada.lovelace@engines.test';
  const user = await people.user({
    tenant,
    role: 'member',
    data: { email, firstName: 'Ada-Augusta', lastName: 'Lovelace-King' },
  });
  const bearer = await people.signIn(user);
  await people.enableTwoFactor(user, bearer);
  await identity.http.post('/api/auth/password/forgot').send({ email }).expect(200);
  await context.database.oneTimeToken.create({
    data: {
      purpose: 'invitation',
      email,
      firstName: 'Ada-Augusta',
      lastName: 'Lovelace-King',
      tenantId: tenant.id,
      roleId: await people.builtInRole('member'),
      inviterId: owner.id,
      tokenHash: new Uint8Array(32).fill(1),
      expiresAt: new Date(Date.now() + 86_400_000),
    },
  });
  expect((await tablesWith(email)).length).toBeGreaterThan(0);

  const target = join(folder, 'ada');
  const run = commandsOf(identity);
  expect(await run('export-user', email, target)).toEqual({ user_id: user.id, folder: target });
  const exported = JSON.parse(await readFile(join(target, 'personal-data.json'), 'utf8'));
  expect(exported).toMatchObject({
    profile: { id: user.id, email, first_name: 'Ada-Augusta' },
    memberships: [{ tenant: { slug: tenant.slug }, role: 'member' }],
  });
  expect(exported.sessions.length).toBeGreaterThan(0);

  expect(await run('delete-user', email, '--yes')).toEqual({ user_id: user.id, deleted: true });
  for (const text of [email, 'Ada-Augusta', 'Lovelace-King']) {
    expect([text, await tablesWith(text)]).toEqual([text, []]);
  }
  // The logs of the tenant and the events that wait to be sent contain the id, which nothing explains any more.
  expect((await tablesWith(user.id)).sort()).toEqual(['activity_entries', 'outbox']);
  await identity.http.get('/api/me').set(bearer).expect(401);
  await expect(run('delete-user', email, '--yes')).rejects.toThrow(`There is no user ${email}.`);
});

test('A user is found by any spelling of their address, and is a person', async () => {
  const { people } = identity;
  const user = await people.user({ data: { email: 'zoë@bücher.test' } });
  await people.user({
    data: { email: 'robot@bücher.test', isServiceAccount: true, emailVerifiedAt: new Date() },
  });
  const run = commandsOf(identity);
  const spellings = ['Zoe\u0308@BÜCHER.test', 'zoë@xn--bcher-kva.test'];
  for (const [index, spelling] of spellings.entries()) {
    const target = join(folder, `spelling-${index}`);
    expect((await run('export-user', spelling, target)).user_id).toBe(user.id);
  }
  await expect(run('export-user', 'robot@bücher.test', join(folder, 'robot'))).rejects.toThrow(
    'There is no user robot@bücher.test.',
  );
  await expect(run('export-user', 'nobody', join(folder, 'nobody'))).rejects.toThrow(
    'user must be an e-mail address',
  );
  const deleted = await run('delete-user', 'ZOË@xn--bcher-kva.test', '--yes');
  expect(deleted).toEqual({ user_id: user.id, deleted: true });
});

test('The last owner of a tenant is not deleted, and nobody without confirmation', async () => {
  const tenant = await identity.people.tenant();
  const { id } = await identity.people.user({ tenant, role: 'owner' });
  const run = commandsOf(identity);
  await expect(run('delete-user', id, '--yes')).rejects.toThrow(`the last owner of ${tenant.slug}`);
  await expect(run('delete-user', id)).rejects.toThrow('--yes');
  expect(await identity.context.database.user.count({ where: { id } })).toBe(1);
  expect(await identity.context.database.accountDeletion.count({ where: { userId: id } })).toBe(0);
});
