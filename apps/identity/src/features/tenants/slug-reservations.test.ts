import { randomUUID } from 'node:crypto';
import { createLogger } from '@tessera/http-kit';
import { v7 as uuidv7 } from 'uuid';
import { applySeed } from '../../administration/seed.ts';
import { startHousekeeping } from '../../background/housekeeping.ts';
import type { Tenant } from '../../generated/prisma/client.ts';
import { Passwords } from '../../passwords/passwords.ts';
import { highestStoredCost } from '../../passwords/stored-cost.ts';
import { collide } from '../../testing/locks.ts';
import { openMailbox } from '../../testing/mailbox.ts';
import { startTenantWorld, type TenantWorld } from '../../testing/tenants.ts';

const DAY = 86_400_000;

let world: TenantWorld;
let tenant: Tenant;
beforeAll(async () => {
  world = await startTenantWorld();
});
afterAll(() => world.stop());
beforeEach(async () => {
  const slug = `acme-${randomUUID().slice(0, 8)}`;
  tenant = await world.identity.people.tenant({ slug, name: slug });
});
afterEach(() => world.automation.restore());

const database = () => world.identity.context.database;
const create = (body: object) => world.ask('post', '/api/tenants').send(body);
/** Deletes the tenant, which has no deployment. */
const remove = async (in_: TenantWorld = world, of: Tenant = tenant): Promise<void> => {
  in_.automation.break('deleteDeployment', 404);
  await in_.ask('delete', `/api/tenants/${of.id}`).expect(200);
  expect(await in_.stored(of)).toBeNull();
};

describe('the slug of a deleted tenant', () => {
  test('is reserved: a system administrator is told why, an application that it is taken', async () => {
    await remove();
    const body = { name: 'Other', slug: tenant.slug };
    const told = await create(body).expect(422);
    expect(told.body.errors.slug[0]).toMatch(
      new RegExp(`"${tenant.slug}" is reserved until .*: .* deleted tenant ${tenant.id}$`),
    );
    const { bearer } = await world.identity.people.application('identity.tenants.create');
    const automated = await world.identity.http.post('/api/tenants').set(bearer).send(body);
    const { slug: used } = await world.identity.people.tenant();
    const taken = await world.identity.http
      .post('/api/tenants')
      .set(bearer)
      .send({ ...body, slug: used });
    expect([automated.status, automated.body]).toEqual([422, taken.body]);
    expect(automated.body.errors).toEqual({ slug: ['slug is taken'] });
  });

  test('is numbered if it would be derived from a name', async () => {
    await remove();
    const { body } = await create({ name: tenant.name }).expect(201);
    expect(body.data.slug).toBe(`${tenant.slug}-2`);
  });

  test('is taken while the tenant is being deleted', async () => {
    await database().tenant.update({ where: { id: tenant.id }, data: { status: 'deleting' } });
    const { body } = await create({ name: 'Other', slug: tenant.slug }).expect(422);
    expect(body.errors).toEqual({ slug: ['slug is taken'] });
  });

  test('is reserved when deployment automation reports that the deployment is gone', async () => {
    const { body } = await create({ name: `Gone ${randomUUID().slice(0, 8)}` }).expect(201);
    const { id, slug } = body.data;
    await database().tenant.update({ where: { id }, data: { status: 'active' } });
    await world.ask('delete', `/api/tenants/${id}`).expect(200);
    await world.identity.context.pool.query(
      'UPDATE identity.tenant_deployments SET due_at = now() WHERE tenant_id = $1',
      [id],
    );
    await world.identity.context.tenantAdministration.provisioning.check();
    expect(await world.stored({ id })).toBeNull();
    await create({ name: 'Other', slug }).expect(422);
  });

  test('is not given to a tenant that is created while it is being deleted', async () => {
    const answer = await collide(database(), () => create({ name: 'Other', slug: tenant.slug }), {
      hold: (tx) => tx.tenant.delete({ where: { id: tenant.id } }),
      change: (tx) => tx.reservedSlug.create({ data: { slug: tenant.slug, tenantId: tenant.id } }),
    });
    expect([answer.status, Object.keys(answer.body.errors ?? {})]).toEqual([422, ['slug']]);
  });

  test('is free after the configured time, and housekeeping forgets it', async () => {
    await remove();
    const { pool, config } = world.identity.context;
    const where = { slug: tenant.slug };
    const deletedAt = new Date(Date.now() - 91 * DAY);
    await database().reservedSlug.update({ where, data: { deletedAt } });
    const { body } = await create({ name: 'Other', slug: tenant.slug }).expect(201);
    expect(body.data.slug).toBe(tenant.slug);
    const logger = createLogger('test', 'silent');
    const housekeeping = startHousekeeping({ pool, logger, retention: config });
    await housekeeping.sweep();
    await housekeeping.stop();
    expect(await database().reservedSlug.count({ where })).toBe(0);
  });

  test('is not given by a seed, except to the same tenant', async () => {
    await remove();
    const { config } = world.identity.context;
    const passwords = new Passwords(config.passwords, highestStoredCost(database()));
    const session = { ...config, database: database(), passwords };
    const empty = { users: [], system_applications: [], clients: [] };
    const { id: ownId, slug } = tenant;
    const seed = (id: string) =>
      applySeed(session, { ...empty, tenants: [{ id, slug, name: 'Acme', plan: 'starter' }] });
    await expect(seed(uuidv7())).rejects.toThrow(`"${slug}" is reserved until`);
    expect(await seed(ownId)).toMatchObject({ tenants: 1 });
  });
});

test('people who register a tenant of that name get a numbered slug', async () => {
  const mailbox = await openMailbox();
  const open = await startTenantWorld({
    REGISTRATION_ENABLED: 'true',
    MAIL_DIRECTORY: mailbox.directory,
  });
  const name = `club-${randomUUID().slice(0, 8)}`;
  await remove(open, await open.identity.people.tenant({ slug: name, name }));
  const email = 'nora@example.test';
  const password = 'Another-horse-8-battery';
  await open.identity.http
    .post('/api/auth/register')
    .send({ first_name: 'Nora', last_name: 'Neu', email, tenant_name: name })
    .send({ password, password_confirmation: password })
    .expect(202);
  const { link } = await mailbox.next('email_verification', email);
  await open.identity.http
    .post('/api/auth/email/verify')
    .send({ token: link.searchParams.get('token'), password, password_confirmation: password })
    .expect(200);
  const made = await open.identity.context.database.tenant.findMany({ where: { name } });
  expect(made.map(({ slug }) => slug)).toEqual([`${name}-2`]);
  await open.stop();
  await mailbox.remove();
});

test('no slug is reserved if the setting is 0', async () => {
  const unreserved = await startTenantWorld({ SLUG_RESERVATION: '0' });
  const brief = await unreserved.identity.people.tenant();
  await remove(unreserved, brief);
  await unreserved
    .ask('post', '/api/tenants')
    .send({ name: 'Other', slug: brief.slug })
    .expect(201);
  await unreserved.stop();
});
