import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandsOf } from '../testing/commands.ts';
import { startIdentity } from '../testing/identity.ts';

const identity = await startIdentity();
afterAll(() => identity.stop());
const { database } = identity.context;
const done = commandsOf(identity);
const folder = await mkdtemp(join(tmpdir(), 'identity-activity-'));
afterAll(() => rm(folder, { recursive: true }));

const chief = await identity.people.signIn(
  await identity.people.user({ data: { isSystemAdmin: true } }),
);
beforeEach(() => database.activityEntry.deleteMany());

/** The entries of commands as system administrators see them, oldest first. */
const entries = async (): Promise<Record<string, unknown>[]> => {
  const query = { sort: 'created_at', per_page: '100' };
  const { body } = await identity.http.get('/api/admin/activity').query(query).set(chief);
  return body.data.filter(({ command }: { command: string | null }) => command !== null);
};

test('commands for clients leave entries that name the client and what changed, without secrets', async () => {
  const id = `client-${randomUUID()}`;
  const uri = 'https://reporting.example.com/callback';
  const scope = 'tenant.*.crm.contacts.view';
  const made = await done('create-client', id, '--name', 'A', '--redirect-uri', uri);
  await done('update-client', id, '--name', 'B', '--scope', scope);
  await done('update-client', id, '--name', 'B');
  const rotated = await done('rotate-secret', id, '--overlap', '0');
  await done('delete-client', id);
  const found = await entries();
  expect(found).toMatchObject([
    {
      action: 'client_created',
      command: `create-client ${id}`,
      user_id: null,
      user_email: null,
      by_operator: true,
      ip_address: null,
      changes: {
        name: { from: null, to: 'A' },
        redirect_uris: { from: null, to: [uri] },
        is_trusted: { from: null, to: false },
      },
    },
    {
      action: 'client_updated',
      command: `update-client ${id}`,
      changes: { name: { from: 'A', to: 'B' }, allowed_scopes: { from: [], to: [scope] } },
    },
    { action: 'client_secret_rotated', command: `rotate-secret ${id}` },
    { action: 'client_deleted', command: `delete-client ${id}` },
  ]);
  for (const secret of [made.client_secret, rotated.client_secret]) {
    expect(JSON.stringify(found)).not.toContain(secret);
  }
}, 60_000);

test('a system application that is disabled and enabled again leaves an entry for each', async () => {
  const id = `app-${randomUUID()}`;
  await done('create-system-application', id, 'identity.tenants.list', '--name', 'App');
  await done('disable-client', id);
  await done('enable-client', id);
  await done('enable-client', id);
  const found = await entries();
  expect(found.map(({ action }) => action)).toEqual([
    'client_created',
    'client_disabled',
    'client_enabled',
  ]);
}, 60_000);

test('the tenant of a client sees what was done with it', async () => {
  const tenant = await identity.people.tenant();
  const owner = await identity.people.caller(tenant, '*');
  const id = `client-${randomUUID()}`;
  const options = ['--name', 'Portal', '--redirect-uri', 'https://portal.example.com/callback'];
  await done('create-client', id, ...options, '--tenant', tenant.slug);
  const { body } = await identity.http.get(`/api/tenants/${tenant.id}/activity`).set(owner);
  expect(body.data).toContainEqual(
    expect.objectContaining({
      action: 'client_created',
      command: `create-client ${id}`,
      by_operator: true,
      user_id: null,
    }),
  );
});

test('a command about an account is in the log of its user too', async () => {
  const tenant = await identity.people.tenant();
  const user = await identity.people.user({ tenant, actions: ['*'] });
  const bearer = await identity.people.signIn(user);
  const email = `${randomUUID()}@example.test`;
  await done('change-email', user.email ?? '', email);
  const changes = { email: { from: user.email, to: email } };
  const shown = { action: 'email_changed', by_operator: true, changes };
  const own = await identity.http.get('/api/profile/activity').set(bearer).expect(200);
  expect(own.body.data[0]).toMatchObject(shown);
  expect(await entries()).toMatchObject([{ ...shown, command: 'change-email', user_id: user.id }]);
  // The tenant sees whose account it was, but not the addresses.
  const { body } = await identity.http.get(`/api/tenants/${tenant.id}/activity`).set(bearer);
  expect(body.data[0]).toMatchObject({ command: 'change-email', user_id: user.id, changes: null });
});

test('administrators, keys, exports, seeds and deletions leave entries', async () => {
  const tenant = await identity.people.tenant();
  const user = await identity.people.user();
  const email = `${randomUUID()}@example.test`;
  const names = ['--first-name', 'Ada', '--last-name', 'Adler'];
  const { id } = await done('create-administrator', email, ...names);
  const { kid } = await done('rotate-keys');
  await done('reseal');
  await done('export-user', user.id, join(folder, 'user'));
  await done('export-tenant', tenant.slug, join(folder, 'tenant'));
  await done('complete-tenant-clients');
  await done('delete-user', user.id, '--yes');
  expect(await entries()).toMatchObject([
    { action: 'administrator_made', command: 'create-administrator', subject_id: id },
    { action: 'signing_key_rotated', command: `rotate-keys ${kid}` },
    { action: 'secrets_resealed', command: 'reseal' },
    { action: 'user_exported', command: 'export-user', subject_id: user.id },
    { action: 'tenant_exported', command: 'export-tenant', tenant_id: tenant.id },
    {
      action: 'client_created',
      command: expect.stringMatching(/^complete-tenant-clients tenant-/),
    },
    {
      action: 'client_created',
      command: expect.stringMatching(/^complete-tenant-clients tenant-/),
    },
    {
      action: 'client_created',
      command: expect.stringMatching(/^complete-tenant-clients tenant-/),
    },
    { action: 'account_deleted', command: 'delete-user', subject_id: user.id, user_id: null },
  ]);
});
