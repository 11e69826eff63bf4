import { randomUUID } from 'node:crypto';
import { PrincipalPayload, parsePrincipal } from '@tessera/contracts';
import { validate } from '@tessera/fields';
import type { Tenant, User } from '../../generated/prisma/client.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import type { Bearer } from '../../testing/population.ts';
import { claimsOf, issue } from '../../testing/tokens.ts';

let identity: TestIdentity;
let tenant: Tenant;
let user: User;
let bearer: Bearer;
beforeAll(async () => {
  identity = await startIdentity();
  tenant = await identity.people.tenant({ name: 'Acme', plan: 'business' });
  user = await identity.people.user({ tenant });
  bearer = await identity.people.signIn(user);
});
afterAll(() => identity.stop());

const who = (headers: Bearer, slug?: string) =>
  identity.http.get('/api/user').set({ ...headers, ...(slug && { 'x-tenant': slug }) });

const presented = ({ id, slug, name, plan }: Tenant) => ({ id, slug, name, plan, is_active: true });

describe('GET /api/me', () => {
  test("shows the caller's own account", async () => {
    const { status, body } = await identity.http.get('/api/me').set(bearer);
    expect(status).toBe(200);
    expect(body).toEqual({
      success: true,
      data: {
        id: user.id,
        tenant_id: tenant.id,
        email: user.email,
        name: 'Ada Tester',
        first_name: 'Ada',
        last_name: 'Tester',
        is_active: true,
        email_verified_at: expect.any(String),
        last_login_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        created_at: user.createdAt.toISOString(),
      },
    });
  });
});

describe('GET /api/user', () => {
  test('describes the caller, the tenant and the expiry for services', async () => {
    const { status, body } = await who(bearer);
    const { jti, sid, exp = 0 } = claimsOf(bearer.authorization.slice('Bearer '.length));
    expect([status, body]).toEqual([
      200,
      {
        success: true,
        data: {
          id: user.id,
          type: 'user',
          email: user.email,
          name: 'Ada Tester',
          tenant_id: tenant.id,
          is_system_admin: false,
          is_service_account: false,
          tenants: [presented(tenant)],
          client_id: 'first-party',
          token_id: jti,
          session_id: sid,
          policies_version: 1,
          expires_at: new Date(exp * 1000).toISOString(),
        },
      },
    ]);
  });

  test('can be parsed by the package that services use', async () => {
    const { body } = await who(bearer);
    expect(validate(PrincipalPayload, body.data).ok).toBe(true);
    expect(parsePrincipal(body)?.id).toBe(user.id);
  });

  test('can be parsed with the longest names that identity accepts', async () => {
    const spacious = await identity.people.tenant({
      slug: `t-${randomUUID()}`.padEnd(63, 'x'),
      name: 'Ő'.repeat(200),
      plan: 'p'.repeat(100),
    });
    const names = { firstName: 'é'.repeat(200), lastName: '𝔄'.repeat(200) };
    const someone = await identity.people.user({ tenant: spacious, data: names });
    const { status, body } = await who(await identity.people.signIn(someone));
    expect(status).toBe(200);
    expect(parsePrincipal(body)).toMatchObject({
      name: `${names.firstName} ${names.lastName}`,
      tenants: [presented(spacious)],
    });
  });

  test('lists all tenants of the caller by slug, and whether they are active', async () => {
    const someone = await identity.people.user();
    for (const [slug, status] of [
      ['zeta', 'active'],
      ['alpha', 'suspended'],
      ['mid', 'active'],
    ]) {
      const joined = await identity.people.tenant({
        ...(slug && { slug }),
        ...(status && { status }),
      });
      await identity.people.join(someone, joined, await identity.people.role(joined));
    }
    const { body } = await who(await identity.people.signIn(someone));
    const listed = body.data.tenants.map(({ slug, is_active }: Record<string, unknown>) => [
      slug,
      is_active,
    ]);
    expect(listed).toEqual([
      ['alpha', false],
      ['mid', true],
      ['zeta', true],
    ]);
  });

  test('has no policies version without a tenant', async () => {
    const someone = await identity.people.signIn(await identity.people.user());
    expect((await who(someone)).body.data).toMatchObject({
      tenant_id: null,
      tenants: [],
      policies_version: null,
    });
  });

  test('contains the limits of the token and the impersonator', async () => {
    const administrator = await identity.people.user({ data: { isSystemAdmin: true } });
    const account = await identity.people.user({
      tenant,
      data: { isServiceAccount: true, email: null },
    });
    const token = await issue(identity, {
      userId: account.id,
      tenantId: tenant.id,
      use: 'api_key',
    });
    await identity.context.database.token.update({
      where: { id: claimsOf(token).jti ?? '' },
      data: { scopes: ['tenant.*.crm.*.view'], impersonatorId: administrator.id },
    });
    const { body } = await who({ authorization: `Bearer ${token}` });
    expect(body.data).toMatchObject({
      type: 'service_account',
      is_service_account: true,
      email: null,
      scopes: ['tenant.*.crm.*.view'],
      impersonator_id: administrator.id,
    });
    expect(body.data).not.toHaveProperty('session_id');
  });
});

describe('GET /api/user with X-Tenant', () => {
  test.each([['*'], ['tenant.*.crm.contacts.*'], ['identity.tenants.list *.*.crm.contacts.view']])(
    'a client acts in a tenant that its scopes cover: %s',
    async (scope) => {
      const { bearer: client } = await identity.people.application(scope);
      expect((await who(client)).body.data).toMatchObject({ tenant_id: null, tenants: [] });
      expect((await who(client, tenant.slug)).body.data).toMatchObject({
        type: 'client',
        tenant_id: tenant.id,
        tenants: [presented(tenant)],
        policies_version: 1,
        scopes: scope.split(' '),
      });
    },
  );

  test.each([['identity.tenants.list'], ['tenant.another.crm.contacts.view'], ['tenant']])(
    'a client is 403 in a tenant that its scopes do not cover: %s',
    async (scope) => {
      const { bearer: client } = await identity.people.application(scope);
      const { status, body } = await who(client, tenant.slug);
      expect([status, body.error]).toEqual([403, 'tenant_forbidden']);
    },
  );

  test('an unknown tenant is 403 for everyone', async () => {
    const { bearer: client } = await identity.people.application('*');
    const administrator = await identity.people.user({ data: { isSystemAdmin: true } });
    for (const caller of [client, await identity.people.signIn(administrator), bearer]) {
      const { status, body } = await who(caller, 'no-such-tenant');
      expect([status, body.error]).toEqual([403, 'tenant_forbidden']);
    }
  });

  test("users may name only the token's tenant", async () => {
    const other = await identity.people.tenant();
    expect((await who(bearer, tenant.slug)).body.data.tenant_id).toBe(tenant.id);
    const { body } = await who(bearer, other.slug);
    expect(body).toMatchObject({
      error: 'tenant_forbidden',
      message: 'The X-Tenant header must name the tenant of the token or be omitted.',
    });
  });

  test('administrators may act in any tenant', async () => {
    const administrator = await identity.people.user({ data: { isSystemAdmin: true } });
    const { body } = await who(await identity.people.signIn(administrator), tenant.slug);
    expect(body.data).toMatchObject({ tenant_id: tenant.id, tenants: [presented(tenant)] });
  });
});
