import { until } from '@tessera/local-stack';
import { newTenant, startEvents } from '@tessera/resource-server/testing';
import request from 'supertest';
import { startCrm, type TestCrm } from '../../testing/crm.ts';

let crm: TestCrm;
const others: TestCrm[] = [];
/** What the clock of CRM is ahead, in milliseconds. */
let ahead = 0;

beforeAll(async () => {
  crm = await startCrm({}, { clock: () => Date.now() + ahead });
});
afterEach(async () => {
  crm.identity.restore();
  await Promise.all(others.splice(0).map((one) => one.stop()));
});
afterAll(() => crm.stop());

const start = async (...given: Parameters<typeof startCrm>): Promise<TestCrm> => {
  const started = await startCrm(...given);
  others.push(started);
  return started;
};

let count = 0;
/** A new tenant with public reading switched on, and its slug. */
const publicTenant = async (on: TestCrm = crm, settings: object = {}) => {
  count += 1;
  const tenant = newTenant(`site-${count}`);
  const headers = on.caller({ tenants: [tenant] });
  const change = (body: object) => on.http.put('/api/crm/settings').set(headers).send(body);
  await change({ public_reading: true, ...settings }).expect(200);
  return { tenant, slug: tenant.slug, change };
};

/** Requests without any authentication. */
const read = (slug: string, on: TestCrm = crm, headers: Record<string, string> = {}) =>
  request(on.url).get(`/public/${slug}`).set(headers);

describe('The public site of a tenant', () => {
  test('is read by everybody, without authentication and cookies, and may be cached and embedded', async () => {
    const { slug } = await publicTenant();
    const { body, headers } = await read(slug).expect(200);
    expect(body.data).toEqual({ slug, name: slug, url: `http://localhost:4100/public/${slug}` });
    expect(headers).toMatchObject({
      'cache-control': 'public, max-age=60, stale-while-revalidate=60',
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      etag: expect.stringMatching(/^".+"$/),
    });
    expect([headers['set-cookie'], headers.vary]).toEqual([undefined, undefined]);
    const again = await read(slug, crm, { 'if-none-match': headers.etag ?? '' }).expect(304);
    expect(again.headers['cache-control']).toBe(headers['cache-control']);
  });

  test('has the name and the address that the tenant has set', async () => {
    const { slug } = await publicTenant(crm, {
      public_site_name: 'Acme',
      public_site_url: 'https://www.example.com/',
    });
    const { body } = await read(slug).expect(200);
    expect(body.data).toEqual({ slug, name: 'Acme', url: 'https://www.example.com/' });
  });

  test('is off by default, and off again as soon as it is switched off', async () => {
    const { slug, change } = await publicTenant();
    await read(slug).expect(200);
    await change({ public_reading: null }).expect(200);
    await read(slug).expect(404);
    await change({ public_reading: true }).expect(200);
    await read(slug).expect(200);
    await change({ public_reading: false }).expect(200);
    await read(slug).expect(404);
  });

  test('gives the same response for unknown and suspended tenants and those that have it off', async () => {
    const [off, suspended] = [await publicTenant(), await publicTenant()];
    await off.change({ public_reading: false }).expect(200);
    crm.identity.suspend(suspended.tenant.id);
    const never = newTenant('never-on');
    crm.caller({ tenants: [never] });
    const answers = await Promise.all(
      [off.slug, suspended.slug, never.slug, 'unknown', 'Not%20a%20slug', '..'].map(
        async (slug) => {
          const { status, body } = await read(slug);
          return [status, body.error];
        },
      ),
    );
    expect(new Set(answers.map((one) => JSON.stringify(one)))).toEqual(
      new Set(['[404,"not_found"]']),
    );
    const bodies = await Promise.all(
      [off.slug, suspended.slug, never.slug, 'unknown'].map(
        async (slug) => (await read(slug)).text,
      ),
    );
    expect(new Set(bodies).size).toBe(1);
  });

  test('belongs to the tenant to which identity has given the slug', async () => {
    const before = await publicTenant();
    await read(before.slug).expect(200);
    crm.identity.suspend(before.tenant.id);
    const now = newTenant(before.slug);
    const headers = crm.caller({ tenants: [now] });
    const settings = { public_reading: true, public_site_name: 'The new one' };
    await crm.http.put('/api/crm/settings').set(headers).send(settings).expect(200);
    ahead += 16_000;
    expect((await read(before.slug).expect(200)).body.data.name).toBe('The new one');
  });
});

describe('When a tenant is suspended, its site ends', () => {
  test('within 15 seconds if CRM receives no events', async () => {
    const { slug, tenant } = await publicTenant();
    await read(slug).expect(200);
    crm.identity.suspend(tenant.id);
    ahead += 16_000;
    await read(slug).expect(404);
    crm.identity.suspend(tenant.id, false);
    ahead += 16_000;
    await read(slug).expect(200);
  });

  test('at once if it does', async () => {
    const events = await startEvents();
    try {
      const now = Date.now();
      const brokers = { KAFKA_BROKERS: events.brokers.join(',') };
      // Nothing expires.
      const listening = await start(brokers, { clock: () => now });
      await until(() => listening.context.access.stream() === 'connected');
      const { slug, tenant } = await publicTenant(listening);
      await read(slug, listening).expect(200);
      listening.identity.suspend(tenant.id);
      const data = { tenant_id: tenant.id, status: 'suspended' } as const;
      await events.publish('identity.tenant.status_changed', data);
      await until(async () => (await read(slug, listening)).status === 404);
    } finally {
      await Promise.all(others.splice(0).map((one) => one.stop()));
      await events.stop();
    }
  });
});

describe('While identity is not available', () => {
  const outage = () => crm.identity.intercept('rights', () => ({ status: 503, body: '' }));

  test('sites that were read before stay available for ten minutes, and then are 503', async () => {
    const { slug } = await publicTenant();
    await read(slug).expect(200);
    outage();
    ahead += 16_000;
    await read(slug).expect(200);
    const asked = crm.identity.rightsRequests;
    await read(slug).expect(200);
    expect(crm.identity.rightsRequests).toBe(asked);
    ahead += 10 * 60_000;
    expect((await read(slug).expect(503)).body.error).toBe('identity_unavailable');
    crm.identity.restore();
    await read(slug).expect(200);
  });

  test('sites that were never read are 503, and unknown tenants stay 404', async () => {
    const { slug } = await publicTenant();
    outage();
    expect((await read(slug).expect(503)).body.error).toBe('identity_unavailable');
    await read('unknown').expect(404);
  });
});

test('Without a client at identity, public reading cannot be switched on, and all sites are 503', async () => {
  const without = await start({ IDENTITY_CLIENT_ID: '', IDENTITY_CLIENT_SECRET: '' });
  const headers = without.caller();
  const { body } = await without.http
    .put('/api/crm/settings')
    .set(headers)
    .send({ public_reading: true })
    .expect(503);
  expect(body.error).toBe('identity_client_not_configured');
  const answers = [await read('acme', without), await read('unknown', without)];
  expect(answers.map((one) => one.body.error)).toEqual(Array(2).fill(body.error));
});

test('Requests are limited by address, and for each tenant', async () => {
  const byAddress = await start({ RATE_LIMIT_PUBLIC: '3' });
  const one = await publicTenant(byAddress);
  for (let i = 0; i < 3; i += 1) await read(one.slug, byAddress).expect(200);
  const { body, headers } = await read(one.slug, byAddress).expect(429);
  expect([body.error, headers['retry-after']]).toEqual([
    'rate_limited',
    expect.stringMatching(/^\d+$/),
  ]);
  const byTenant = await start({ RATE_LIMIT_PUBLIC_TENANT: '2' });
  const [busy, quiet] = [await publicTenant(byTenant), await publicTenant(byTenant)];
  await read(busy.slug, byTenant).expect(200);
  await read(busy.slug, byTenant).expect(200);
  await read(busy.slug, byTenant).expect(429);
  await read(quiet.slug, byTenant).expect(200);
});
