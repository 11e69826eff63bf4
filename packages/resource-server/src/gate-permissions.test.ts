import { randomUUID } from 'node:crypto';
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

const allow = (...actions: string[]): Policy[] =>
  actions.map((action) => ({ action, effect: 'allow' }));
const deny = (...actions: string[]): Policy[] =>
  actions.map((action) => ({ action, effect: 'deny' }));
const inTenant = ({ headers }: Person, slug: string) => ({ ...headers, 'x-tenant': slug });

describe('policies', () => {
  const contacts = 'tenant.acme.crm.contacts';
  const get = (path: string, policies: Policy[]) =>
    probe.get(path, identity.signIn({ policies }).headers);

  test.each<[number, string, Policy[]]>([
    [200, 'the permission itself', allow(`${contacts}.list`)],
    [200, 'a pattern for all tenants', allow('tenant.*.crm.*.list')],
    [200, 'everything', allow('*')],
    [403, 'nothing', []],
    [403, 'another permission', allow(`${contacts}.view`)],
    [403, 'the permission in another tenant', allow('tenant.globex.crm.contacts.list')],
    [403, 'everything but a deny', [...allow('*'), ...deny(`${contacts}.list`)]],
    [403, 'a deny before everything', [...deny('tenant.*.crm.*.*'), ...allow('*')]],
  ])('%d for a caller with %s', async (status, _what, policies) => {
    expect(await get('/contacts', policies)).toMatchObject({ status });
  });

  test('that are missing are named in the response, with the resource', async () => {
    const person = identity.signIn();
    const id = randomUUID();
    const { status, body } = await probe.get(`/contacts/${id}`, person.headers);
    expect(status).toBe(403);
    expect(body).toEqual({
      message: expect.stringContaining(`${contacts}.view`),
      error: 'permission_denied',
      required_permission: `${contacts}.view`,
      resource_type: 'contact',
      resource_id: id,
      user_id: person.id,
    });
  });

  test('that are missing for a list, or a route without a resource, are reported without a resource id', async () => {
    expect((await get('/contacts', [])).body).toMatchObject({
      resource_type: 'contact',
      resource_id: null,
    });
    expect((await get('/channels', [])).body).toMatchObject({
      resource_type: null,
      resource_id: null,
    });
  });

  const chat = 'tenant.acme.crm.chat';
  test.each<[string, string[]]>([
    ['access', []],
    ['access', [`${chat}.messages.view`, `${chat}.bots.list`]],
    ['messages.view', [`${chat}.access`]],
    ['bots.list', [`${chat}.access`, `${chat}.messages.view`]],
  ])('are reported in order: chat.%s for a caller with %j', async (missing, held) => {
    const { body } = await get('/channels', allow(...held));
    expect(body.required_permission).toBe(`${chat}.${missing}`);
  });

  test('are not required by routes for every authenticated caller, and the handler can check them', async () => {
    const { status, body } = await get('/me', allow(`${contacts}.create`));
    expect(status).toBe(200);
    expect(body.can).toEqual(['contacts.create']);
  });

  test('are bypassed by a system administrator, who holds everything', async () => {
    const asked = identity.count('/api/policies');
    const { headers } = identity.signIn({ is_system_admin: true, policies: deny('*') });
    const { body } = await probe.get('/contacts', headers);
    expect(body.can).toEqual(['contacts.list', 'contacts.create']);
    expect(identity.count('/api/policies')).toBe(asked);
  });

  test('are those of the impersonated user', async () => {
    const impersonator_id = randomUUID();
    const person = identity.signIn({ impersonator_id, policies: allow(`${contacts}.list`) });
    const { body } = await probe.get('/contacts', person.headers);
    expect(body).toMatchObject({ user_id: person.id, impersonator_id, is_system_admin: false });
  });
});

describe('scopes', () => {
  const scoped = (scopes: string[], given = {}) =>
    identity.signIn({ type: 'service_account', policies: allow('*'), scopes, ...given }).headers;

  test.each<[number, string[]]>([
    [200, ['tenant.acme.crm.contacts.list']],
    [200, ['tenant.*.crm.*.list']],
    [200, ['*']],
    [403, []],
    [403, ['tenant.globex.crm.contacts.list']],
    [403, ['tenant.acme.crm.contacts']],
  ])('%d within %j', async (status, scopes) => {
    expect(await probe.get('/contacts', scoped(scopes))).toMatchObject({ status });
  });

  test('that do not cover a permission are refused, and the response names it', async () => {
    const { body } = await probe.get('/contacts', scoped(['identity.*']));
    expect(body).toEqual({
      message: expect.any(String),
      error: 'service_account_scope_denied',
      required_permission: 'tenant.acme.crm.contacts.list',
    });
  });

  test('bind administrators too', async () => {
    const headers = scoped(['tenant.acme.crm.contacts.view'], { is_system_admin: true });
    const { body } = await probe.get('/contacts', headers);
    expect(body.error).toBe('service_account_scope_denied');
  });

  test('are checked before policies, and grant nothing', async () => {
    const { body: both } = await probe.get('/contacts', scoped(['a.b'], { policies: [] }));
    expect(both.error).toBe('service_account_scope_denied');
    const { body: policy } = await probe.get('/contacts', scoped(['*'], { policies: [] }));
    expect(policy.error).toBe('permission_denied');
  });

  test('limit the permissions that a handler checks', async () => {
    const { body } = await probe.get('/me', scoped(['tenant.acme.crm.contacts.create']));
    expect(body.can).toEqual(['contacts.create']);
  });

  test('of a client are its policies; a client without scopes has no permissions', async () => {
    const asked = identity.count('/api/policies');
    const headers = (scopes?: string[]) =>
      inTenant(identity.signIn({ type: 'client', tenants: [], ...(scopes && { scopes }) }), 'acme');
    const { status } = await probe.get('/contacts', headers(['tenant.acme.crm.contacts.list']));
    expect(status).toBe(200);
    const { body: other } = await probe.get('/contacts', headers(['tenant.acme.crm.tasks.list']));
    expect(other.error).toBe('service_account_scope_denied');
    const { body: none } = await probe.get('/contacts', headers());
    expect(none.error).toBe('permission_denied');
    expect(identity.count('/api/policies')).toBe(asked);
  });
});
