import type { Policy } from '@tessera/scope-matcher';
import { IdentityStandIn, type Person } from './testing/identity.ts';
import { type Probe, startProbe } from './testing/probe.ts';

const identity = new IdentityStandIn();
let probe: Probe;

beforeAll(async () => {
  await identity.start();
  probe = await startProbe({ identity });
});
afterAll(async () => {
  await probe.stop();
  await identity.stop();
});

const everything: Policy[] = [{ action: '*', effect: 'allow' }];
const inTenant = ({ headers }: Person, slug: string) => ({ ...headers, 'x-tenant': slug });

describe('the tenant', () => {
  test("is the token's", async () => {
    const person = identity.signIn({
      tenants: [identity.acme, identity.globex],
      tenant_id: identity.globex.id,
    });
    const { body } = await probe.get('/me', person.headers);
    expect(body).toMatchObject({ tenant_id: identity.globex.id, tenant_slug: 'globex' });
  });

  test('may be named by a user if it is the tenant of the token', async () => {
    const person = identity.signIn();
    expect(await probe.get('/me', inTenant(person, 'acme'))).toMatchObject({ status: 200 });
  });

  test.each(['globex', 'unknown', 'Acme', 'acme, acme', ''])(
    '"%s" is forbidden to a user of acme',
    async (slug) => {
      const person = identity.signIn({
        tenants: [identity.acme, identity.globex],
        tenant_id: identity.acme.id,
        policies: everything,
      });
      const { status, body } = await probe.get('/me', inTenant(person, slug));
      expect([status, body.error]).toEqual([403, 'tenant_forbidden']);
      expect(body.message).toBe(
        'The header X-Tenant must name the tenant of the token, or be left out.',
      );
    },
  );

  test('may be another one for a system administrator', async () => {
    const person = identity.signIn({ is_system_admin: true });
    const { body } = await probe.get('/contacts', inTenant(person, 'globex'));
    expect(body).toMatchObject({ tenant_id: identity.globex.id, is_system_admin: true });
  });

  test('is the one that a client names in X-Tenant', async () => {
    const pipeline = { type: 'client', tenants: [], scopes: ['tenant.*.crm.contacts.*'] } as const;
    const person = identity.signIn(pipeline);
    for (const { id, slug } of [identity.acme, identity.globex]) {
      const { body } = await probe.get('/contacts', inTenant(person, slug));
      expect(body).toMatchObject({ tenant_id: id, tenant_slug: slug });
    }
    const unknown = await probe.get('/contacts', inTenant(person, 'unknown'));
    expect(unknown.body).toMatchObject({ error: 'tenant_forbidden' });
  });

  test.each([
    ['a user', { type: 'user' }, (id: string) => id],
    ['a service account', { type: 'service_account' }, (id: string) => id],
    ['a client', { type: 'client', id: 'pipeline', scopes: ['*'] }, () => null],
    ['a client with a UUID for an id', { type: 'client', scopes: ['*'] }, () => null],
    ['a user of another issuer, without a UUID', { id: 'dev' }, () => null],
  ] as const)(
    '%s has a user UUID only if the principal is a user with a UUID',
    async (_, who, uuidOf) => {
      const person = identity.signIn(who);
      const { body } = await probe.get('/me', inTenant(person, 'acme'));
      expect(body).toMatchObject({ user_id: person.id, user_uuid: uuidOf(person.id) });
    },
  );

  test.each([
    ['a client', { type: 'client', scopes: ['*'] }],
    ['a system administrator without a tenant', { is_system_admin: true }],
  ] as const)('must be named by %s; the response says how', async (_, who) => {
    const person = identity.signIn({ ...who, tenants: [], tenant_id: null });
    const { status, body } = await probe.get('/contacts', person.headers);
    expect([status, body.error]).toEqual([403, 'tenant_forbidden']);
    expect(body.message).toContain('X-Tenant');
  });

  test('that is suspended is closed to everyone', async () => {
    const tenants = [{ ...identity.acme, is_active: false }];
    for (const is_system_admin of [false, true]) {
      const person = identity.signIn({ tenants, is_system_admin, policies: everything });
      const { status, body } = await probe.get('/contacts', person.headers);
      expect([status, body.error]).toEqual([403, 'tenant_suspended']);
    }
  });

  test('is required: callers without a tenant are rejected', async () => {
    const person = identity.signIn({ tenants: [], tenant_id: null });
    expect((await probe.get('/me', person.headers)).body).toMatchObject({
      error: 'tenant_forbidden',
    });
  });
});
