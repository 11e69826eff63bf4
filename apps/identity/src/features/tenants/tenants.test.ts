import { randomUUID } from 'node:crypto';
import { startTenantWorld, type TenantWorld } from '../../testing/tenants.ts';

let world: TenantWorld;
beforeAll(async () => {
  world = await startTenantWorld({
    TENANT_CLIENT_REDIRECT_URIS: 'https://{slug}.example.com/callback',
  });
});
afterAll(() => world.stop());
afterEach(() => {
  world.automation.restore();
  world.automation.calls.length = 0;
});

const newSlug = (): string => `t-${randomUUID().slice(0, 8)}`;
const create = (body: object, path = '/api/tenants') => world.ask('post', path).send(body);

describe('creating a tenant', () => {
  test.each(['/api/tenants', '/api/admin/tenants'])(
    'at %s returns a provisioning tenant with its confidential client',
    async (path) => {
      const slug = newSlug();
      const { status, body } = await create({ name: 'Acme', slug, plan: 'business' }, path);
      expect(status).toBe(201);
      expect(body.data).toMatchObject({
        slug,
        name: 'Acme',
        plan: 'business',
        status: 'provisioning',
        versions: {},
        client: { client_id: `tenant-${slug}`, client_secret: expect.stringMatching(/^.{40,}$/) },
      });
      expect(await world.told(body.data)).toEqual(['provisioning']);
      expect(await world.done(body.data)).toEqual(['tenant_created']);
      expect(world.automation.callsOf('createDeployment')).toMatchObject([
        { tenantId: body.data.id, body: { slug, plan: 'business', scaling: { api: {} } } },
      ]);
      const client = await world.identity.context.database.oAuthClient.findUnique({
        where: { clientId: `tenant-${slug}` },
      });
      expect(client).toMatchObject({
        tenantId: body.data.id,
        isTrusted: true,
        redirectUris: [`https://${slug}.example.com/callback`],
      });
    },
  );

  test('shows the client secret only once', async () => {
    const { body } = await create({ name: 'Once', slug: newSlug() });
    const shown = await world.ask('get', `/api/tenants/${body.data.id}`);
    expect(shown.text).not.toContain(body.data.client.client_secret);
    expect(shown.body.data).not.toHaveProperty('client');
  });

  test('derives the slug from the name, and is active once deployed', async () => {
    const { body } = await create({ name: 'Café Kovács' });
    expect(body.data).toMatchObject({ slug: 'cafe-kovacs', plan: 'starter' });
    await world.identity.context.tenantAdministration.provisioning.check();
    expect((await world.stored(body.data))?.status).toBe('active');
    expect(await world.told(body.data)).toEqual(['provisioning', 'active']);
  });

  test('with a taken slug is a 422 on it, and deployment automation is not called', async () => {
    const { slug } = await world.identity.people.tenant();
    const { status, body } = await create({ name: 'Twin', slug });
    expect([status, Object.keys(body.errors)]).toEqual([422, ['slug']]);
    expect(world.automation.calls).toEqual([]);
  });

  test.each([
    ['slug', { name: 'A', slug: 'No Label' }],
    ['plan', { name: 'A', plan: 'gigantic' }],
    ['name', {}],
    ['status', { name: 'A', status: 'active' }],
  ])('invalid input is a 422 on %s', async (field, body) => {
    const answer = await create(body);
    expect([answer.status, Object.keys(answer.body.errors)]).toEqual([422, [field]]);
  });

  test.each(['cut', 'empty', 'lost', 500] as const)(
    'that deployment automation rejects (%s) is a 502, and no tenant is created',
    async (fault) => {
      const slug = newSlug();
      world.automation.break('createDeployment', fault);
      const { status, body } = await create({ name: 'Nobody', slug });
      expect([status, body.error]).toEqual([502, 'deployment_automation_failed']);
      const { database } = world.identity.context;
      expect(await database.tenant.count({ where: { slug } })).toBe(0);
      expect(await database.oAuthClient.count({ where: { clientId: `tenant-${slug}` } })).toBe(0);
      const [{ tenantId: id } = { tenantId: '' }] = world.automation.callsOf('createDeployment');
      expect(await world.told({ id: `${id}` })).toEqual([]);
      expect(await world.done({ id: `${id}` })).toEqual([]);
    },
  );
});

describe('the list', () => {
  const names = ['Zeta', 'Alpha', 'Mid'];
  const mark = `m${randomUUID().slice(0, 6)}`;
  beforeAll(async () => {
    for (const [index, name] of names.entries()) {
      await world.identity.people.tenant({
        name: `${name} ${mark}`,
        slug: `${mark}-${index}`,
        plan: ['business', 'enterprise', 'starter'][index] ?? '',
        status: index === 1 ? 'suspended' : 'active',
      });
    }
  });

  const list = (query: string, path = '/api/tenants') =>
    world.ask('get', `${path}?search=${mark}&${query}`);
  const slugs = async (query: string, path?: string): Promise<string[]> => {
    const { body } = await list(query, path).expect(200);
    return body.data.map(({ slug }: { slug: string }) => slug.replace(`${mark}-`, ''));
  };

  test.each([
    ['name', ['1', '2', '0']],
    ['-name', ['0', '2', '1']],
    ['slug', ['0', '1', '2']],
    ['-slug', ['2', '1', '0']],
    ['plan', ['0', '1', '2']],
    ['-plan', ['2', '1', '0']],
    ['status', ['0', '2', '1']],
    ['-status', ['1', '2', '0']],
    ['created_at', ['0', '1', '2']],
    ['-created_at', ['2', '1', '0']],
  ])('is sorted by %s', async (sort, order) => {
    expect(await slugs(`sort=${sort}`)).toEqual(order);
    expect(await slugs(`sort=${sort}`, '/api/admin/tenants')).toEqual(order);
  });

  test.each(['plan_id', '-plan_id', 'id', 'name,slug', ''])(
    'accepts plan, not %j: 422',
    async (sort) => {
      const { status, body } = await list(`sort=${sort}`);
      expect([status, Object.keys(body.errors)]).toEqual([422, ['sort']]);
    },
  );

  test('is searched, filtered by status and paginated', async () => {
    expect(await slugs('status=suspended')).toEqual(['1']);
    const { body } = await list('per_page=2&page=2').expect(200);
    expect(body.meta).toEqual({ current_page: 2, last_page: 2, per_page: 2, total: 3 });
    expect(body.data).toHaveLength(1);
    const literal = await world.ask('get', '/api/tenants?search=%25').expect(200);
    expect(literal.body.data).toEqual([]);
    await world.ask('get', '/api/tenants?status=gone').expect(422);
  });

  test('of services takes precedence over the item route, and shows what runs for each tenant', async () => {
    const { body } = await list('sort=slug', '/api/tenants-services').expect(200);
    expect(body.meta.total).toBe(3);
    expect(body.data[0]).toMatchObject({ slug: `${mark}-0`, status: 'active' });
    expect(body.data[0].services.map(({ service }: { service: string }) => service)).toEqual([
      'api',
      'worker',
      'scheduler',
      'websocket',
    ]);
  });
});

describe('the versions', () => {
  const put = (id: string, body: object) =>
    world.ask('put', `/api/tenants/${id}/versions`).send(body);
  const versions = { api: '1.4.2' };
  const link = (number: number) => `https://git.example.com/pull/${number}`;

  test.each([
    [{ prUrl: link(1), pr_url: link(2) }, link(1)],
    [{ prUrl: link(1) }, link(1)],
    [{ pr_url: link(2) }, link(2)],
    [{ prUrl: null, pr_url: link(2) }, link(2)],
    [{ prUrl: '', pr_url: link(2) }, link(2)],
    [{ prUrl: ' \t\n', pr_url: link(2) }, link(2)],
    [{ prUrl: link(1), pr_url: '' }, link(1)],
    [{ prUrl: link(1), pr_url: ' ' }, link(1)],
    [{ prUrl: '', pr_url: ' ' }, null],
    [{ prUrl: null, pr_url: '' }, null],
    [{}, null],
  ])('read the pull-request link from prUrl first and pr_url second: %j', async (links, pr_url) => {
    const { id } = await world.identity.people.tenant();
    const { status, body } = await put(id, { versions, ...links });
    expect([status, body.data.versions, body.data.pr_url]).toEqual([200, versions, pr_url]);
    expect(await world.done({ id })).toEqual(['tenant_versions_updated']);
    expect(world.automation.callsOf('setVersions').at(-1)?.body).toEqual({
      versions,
      ...(pr_url && { prUrl: pr_url }),
    });
  });

  test.each([
    [{ prUrl: link(3), pr_url: link(4) }, link(3)],
    [{ prUrl: null, pr_url: link(4) }, link(4)],
    [{ pr_url: link(4) }, link(4)],
    [{ prUrl: '', pr_url: null }, null],
    [{ prUrl: 'no URL', steps: null }, null],
    [{}, null],
  ])('contain the link that deployment automation reports, if any: %j', async (answer, pr_url) => {
    const { id } = await world.identity.people.tenant();
    world.automation.deployments.extraFields = answer;
    const { status, body } = await put(id, { versions });
    world.automation.deployments.extraFields = {};
    expect([status, body.data.pr_url]).toEqual([200, pr_url]);
  });

  test('of omitted services stay unchanged', async () => {
    const { id } = await world.identity.people.tenant();
    await put(id, { versions }).expect(200);
    const { body } = await put(id, { versions: { worker: '2.0.0' } }).expect(200);
    expect(body.data.versions).toEqual({ api: '1.4.2', worker: '2.0.0' });
  });

  test('that the tenant has are not deployed again', async () => {
    const { id } = await world.identity.people.tenant();
    const { body: first } = await put(id, { versions, prUrl: link(1) }).expect(200);
    const calls = world.automation.callsOf('setVersions').length;
    for (const same of [{ versions }, { versions, prUrl: link(1) }]) {
      expect((await put(id, same).expect(200)).body.data).toEqual(first.data);
    }
    expect(world.automation.callsOf('setVersions')).toHaveLength(calls);
    expect(await world.done({ id })).toEqual(['tenant_versions_updated']);
    await put(id, { versions, prUrl: link(2) }).expect(200);
    expect(world.automation.callsOf('setVersions')).toHaveLength(calls + 1);
  });

  test('stay unchanged if deployment automation rejects them', async () => {
    const tenant = await world.identity.people.tenant();
    world.automation.break('setVersions', 'empty');
    const { status } = await put(tenant.id, { versions });
    expect(status).toBe(502);
    expect(await world.stored(tenant)).toEqual(tenant);
    expect(await world.done(tenant)).toEqual([]);
  });

  test.each([
    ['versions', { versions: {} }],
    ['versions.shadow', { versions: { shadow: '1' } }],
    ['versions.api', { versions: { api: '../etc' } }],
    ['prUrl', { versions, prUrl: 'javascript:alert(1)' }],
    ['prUrl', { versions, prUrl: 'http://a%zz' }],
    ['prUrl', { versions, prUrl: 'http://[' }],
    ['prUrl', { versions, prUrl: 'https://git.example.com/%zz' }],
    ['prUrl', { versions, prUrl: 'https://git.example.com/ő' }],
    ['prUrl', { versions, prUrl: 'https://user:secret@git.example.com/' }],
    ['pr_url', { versions, pr_url: 'http://[' }],
    ['prUrl', { versions, prUrl: ' https://git.example.com/pull/7', pr_url: link(2) }],
    ['prUrl', { versions, prUrl: 7, pr_url: link(2) }],
  ])('that are invalid are a 422 on %s', async (field, body) => {
    const { id } = await world.identity.people.tenant();
    const answer = await put(id, body);
    expect([answer.status, Object.keys(answer.body.errors)]).toEqual([422, [field]]);
  });

  test('of a tenant that is not deployed cannot be set: 409', async () => {
    const { id } = await world.identity.people.tenant({ status: 'failed' });
    expect((await put(id, { versions })).status).toBe(409);
  });
});

test('sync-config sends plan, versions and scaling', async () => {
  const { id, slug } = await world.identity.people.tenant({ plan: 'enterprise' });
  await world.ask('post', `/api/tenants/${id}/sync-config`).expect(200);
  expect(world.automation.callsOf('configureDeployment')).toMatchObject([
    { tenantId: id, body: { slug, plan: 'enterprise', versions: {}, scaling: { worker: {} } } },
  ]);
  expect(await world.done({ id })).toEqual(['tenant_config_synced']);
});

test('provisioning-status shows the steps of the deployment', async () => {
  const tenant = await world.identity.people.tenant({ status: 'provisioning' });
  world.automation.deployments.outcome = 'failed';
  world.automation.deployments.move(tenant.id, 'provisioning');
  const path = `/api/tenants/${tenant.id}/provisioning-status`;
  const { body } = await world.ask('get', path).expect(200);
  expect(body.data).toMatchObject({
    tenant_id: tenant.id,
    status: 'provisioning',
    state: 'failed',
    steps: [{ name: 'database' }, { name: 'services', state: 'failed' }],
  });
  world.automation.break('getDeployment', 404);
  expect((await world.ask('get', path)).body.data).toMatchObject({ state: null, steps: [] });
  world.automation.break('getDeployment', 'garbage');
  expect((await world.ask('get', path)).status).toBe(502);
});
