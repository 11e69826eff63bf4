import { randomUUID } from 'node:crypto';
import { openMailbox } from '../../testing/mailbox.ts';
import { startTenantWorld, type TenantWorld } from '../../testing/tenants.ts';
import { numberedSlug, slugOf } from '../registration/slug.ts';

let world: TenantWorld;
beforeAll(async () => {
  world = await startTenantWorld();
});
afterAll(() => world.stop());

const create = async (name: string): Promise<string> => {
  const { body } = await world.ask('post', '/api/tenants').send({ name }).expect(201);
  return body.data.slug;
};

describe('the slug of a tenant', () => {
  test.each([
    ['Café Kovács & Co.', 'cafe-kovacs-co'],
    ['Müller & Söhne GmbH', 'muller-sohne-gmbh'],
    ['Пример', 'primer'],
    ['Ελλάδα', 'ellada'],
    ['北京', 'beijing'],
    ["O'Brien’s", 'obriens'],
    ['İstanbul', 'istanbul'],
    ['--A  b--', 'a-b'],
    ['!!!', 'tenant'],
  ])('of %s is %s', (name, slug) => {
    expect(slugOf(name)).toBe(slug);
  });

  test('is a DNS label, whatever the name and the number', () => {
    for (const name of ['x'.repeat(200), '北'.repeat(200), `${'x'.repeat(62)} y`, '-'.repeat(9)]) {
      for (const number of [1, 2, 10, 12_345]) {
        const slug = numberedSlug(slugOf(name), number);
        expect(slug).toMatch(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/);
      }
    }
  });

  test('differs for names without Latin letters, and is numbered for equal names', async () => {
    const mark = randomUUID().slice(0, 6);
    expect(await create(`Пример ${mark}`)).toBe(`primer-${mark}`);
    expect(await create(`北京 ${mark}`)).toBe(`beijing-${mark}`);
    expect(await create(`Пример ${mark}`)).toBe(`primer-${mark}-2`);
    expect(await create(`Primer ${mark}`)).toBe(`primer-${mark}-3`);
  });

  test('cannot be a reserved name: 422 if given, numbered if derived', async () => {
    for (const slug of ['admin', 'api', 'www', 'auth', 'login']) {
      const given = await world.ask('post', '/api/tenants').send({ name: 'Acme', slug });
      expect([given.status, given.body.errors]).toEqual([422, { slug: ['slug is reserved'] }]);
    }
    expect(await create('Admin')).toBe('admin-2');
  });

  test('is numbered if a client has the derived client id', async () => {
    const mark = randomUUID().slice(0, 6);
    await world.identity.context.database.oAuthClient.create({
      data: { clientId: `tenant-used-${mark}`, name: 'Used', redirectUris: [] },
    });
    expect(await create(`Used ${mark}`)).toBe(`used-${mark}-2`);
    const given = await world.ask('post', '/api/tenants').send({ name: 'A', slug: `used-${mark}` });
    expect([given.status, Object.keys(given.body.errors)]).toEqual([422, ['slug']]);
  });

  test('differs for each of ten tenants of one name created at once', async () => {
    const name = `Race ${randomUUID().slice(0, 6)}`;
    const slugs = await Promise.all(Array.from({ length: 10 }, () => create(name)));
    const base = slugOf(name);
    expect(new Set(slugs)).toEqual(
      new Set(Array.from({ length: 10 }, (_, at) => numberedSlug(base, at + 1))),
    );
  });
});

test('four people who register concurrently with the same tenant name each get a tenant', async () => {
  const mailbox = await openMailbox();
  const open = await startTenantWorld({
    REGISTRATION_ENABLED: 'true',
    MAIL_DIRECTORY: mailbox.directory,
  });
  const addresses = Array.from({ length: 4 }, (_, at) => `racer-${at}@example.test`);
  const password = 'Another-horse-8-battery';
  await Promise.all(
    addresses.map((email) =>
      open.identity.http
        .post('/api/auth/register')
        .send({ first_name: 'Nora', last_name: 'Neu', email, tenant_name: '東京' })
        .send({ password, password_confirmation: password })
        .expect(202),
    ),
  );
  await Promise.all(
    addresses.map(async (email) => {
      const { link } = await mailbox.next('email_verification', email);
      await open.identity.http
        .post('/api/auth/email/verify')
        .send({ token: link.searchParams.get('token'), password })
        .send({ password_confirmation: password })
        .expect(200);
    }),
  );
  const { database } = open.identity.context;
  const tenants = await database.tenant.findMany({ where: { name: '東京' } });
  expect(tenants.map(({ slug }) => slug).sort()).toEqual(
    addresses.map((_, at) => numberedSlug(slugOf('東京'), at + 1)).sort(),
  );
  expect(await database.oAuthClient.count({ where: { name: '東京' } })).toBe(4);
  await open.stop();
  await mailbox.remove();
});
