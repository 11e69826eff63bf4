import type { Tenant } from '../generated/prisma/client.ts';
import { startIdentity } from '../testing/identity.ts';
import type { Bearer } from '../testing/population.ts';
import { MAX_API_KEYS, MAX_ROLES, MAX_SERVICE_ACCOUNTS } from './maximum.ts';

const identity = await startIdentity();
afterAll(() => identity.stop());
const { database, pool } = identity.context;

let tenant: Tenant;
let bearer: Bearer;
beforeEach(async () => {
  tenant = await identity.people.tenant();
  bearer = await identity.people.signIn(await identity.people.user({ tenant, role: 'owner' }));
});

const post = (path: string, body: object) =>
  identity.http.post(`/api/tenants/${tenant.id}/${path}`).set(bearer).send(body);
/** The statuses of three requests at once, for one place. */
const three = async (send: (n: number) => PromiseLike<{ status: number }>) =>
  (await Promise.all([1, 2, 3].map(send))).map(({ status }) => status).sort();

test('A tenant has a limited number of roles', async () => {
  const names = Array.from({ length: MAX_ROLES - 1 }, (_, n) => `role ${n}`);
  await database.role.createMany({ data: names.map((name) => ({ name, tenantId: tenant.id })) });
  const create = (n: number) => post('roles', { name: `new ${n}`, policies: [] });
  expect(await three(create)).toEqual([201, 409, 409]);
  const { body } = await create(4);
  expect(body).toMatchObject({ error: 'conflict', maximum: MAX_ROLES });
});

test('A tenant has a limited number of service accounts', async () => {
  const role = await identity.people.builtInRole('viewer');
  const accounts = await database.user.createManyAndReturn({
    data: Array.from({ length: MAX_SERVICE_ACCOUNTS - 1 }, (_, n) => ({
      firstName: `account ${n}`,
      lastName: '',
      tenantId: tenant.id,
      isServiceAccount: true,
    })),
  });
  await database.membership.createMany({
    data: accounts.map(({ id }) => ({ userId: id, tenantId: tenant.id, roleId: role })),
  });
  const create = (n: number) => post('service-accounts', { name: `new ${n}`, role: 'viewer' });
  expect(await three(create)).toEqual([201, 409, 409]);
});

test('A service account has a limited number of valid keys; those that ended do not count', async () => {
  const { body } = await post('service-accounts', { name: 'Sync', role: 'viewer' }).expect(201);
  const path = `service-accounts/${body.data.id}/api-keys`;
  await post(path, { name: 'first' }).expect(201);
  const { rowCount } = await pool.query(
    `INSERT INTO identity.tokens SELECT (jsonb_populate_record(token, jsonb_build_object('id', gen_random_uuid()))).*
     FROM identity.tokens AS token, generate_series(3, $2::int) WHERE user_id = $1`,
    [body.data.id, MAX_API_KEYS],
  );
  expect(rowCount).toBe(MAX_API_KEYS - 2);
  expect(await three((n) => post(path, { name: `new ${n}` }))).toEqual([201, 409, 409]);
  await pool.query(
    `UPDATE identity.tokens SET revoked_at = now() WHERE user_id = $1 AND name LIKE 'new%'`,
    [body.data.id],
  );
  await post(path, { name: 'next' }).expect(201);
});
