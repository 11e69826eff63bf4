import { type Out, validate } from '@tessera/fields';
import fc from 'fast-check';
import { PrincipalPayload, parsePolicies, parsePrincipal } from '../index.ts';

const USER = '01890a5d-ac96-774b-bcce-b302099a8057';
const TENANT = '01890a5d-ac96-774b-bcce-b302099a8058';

const wire = {
  id: USER,
  type: 'user',
  email: 'ada@example.com',
  name: 'Ada',
  tenant_id: TENANT,
  is_system_admin: false,
  is_service_account: false,
  tenants: [{ id: TENANT, slug: 'acme', name: 'Acme', plan: 'starter', is_active: true }],
  token_id: 'jti-1',
  session_id: USER,
  policies_version: 7,
  expires_at: '2030-01-01T00:00:00.000Z',
};

const principal = {
  ...wire,
  client_id: null,
  impersonator_id: null,
  expires_at: new Date(wire.expires_at),
};

describe('parsePrincipal', () => {
  test('parses a principal as identity sends it, in an envelope and bare', () => {
    expect(validate(PrincipalPayload, wire).ok).toBe(true);
    expect(parsePrincipal({ success: true, data: wire })).toEqual(principal);
    expect(parsePrincipal(wire)).toEqual(principal);
  });

  test('ignores fields that it does not know, at every depth', () => {
    const tenants = wire.tenants.map((tenant) => ({ ...tenant, colour: 'red' }));
    expect(parsePrincipal({ data: { ...wire, tenants, shoe_size: 43 }, links: {} })).toEqual(
      principal,
    );
  });

  test.each([
    ['a blank name', { name: ' ' }],
    ['no name', { name: '' }],
    ['a name of a thousand letters', { name: 'x'.repeat(1000) }],
    ['an address of a thousand letters', { email: 'x'.repeat(1000) }],
  ])('accepts %s, which is only displayed', (_what, shown) => {
    expect(parsePrincipal({ ...wire, ...shown })).toEqual({ ...principal, ...shown });
    const tenants = [{ ...wire.tenants[0], ...('name' in shown && { name: shown.name }) }];
    expect(parsePrincipal({ ...wire, tenants })?.tenants).toEqual(tenants);
  });

  test('accepts the few members that a stub sends and adds no rights', () => {
    const bare = { id: 'dev', tenant_id: TENANT, tenants: [{ id: TENANT, slug: 'local' }] };
    expect(parsePrincipal(bare)).toEqual({
      id: 'dev',
      type: 'user',
      email: null,
      name: null,
      tenant_id: TENANT,
      is_system_admin: false,
      is_service_account: false,
      tenants: [{ id: TENANT, slug: 'local', name: 'local', plan: null, is_active: true }],
      client_id: null,
      impersonator_id: null,
      token_id: null,
      session_id: null,
      policies_version: null,
      expires_at: null,
    });
  });

  test.each([
    ['absent', {}, undefined],
    ['null', { scopes: null }, undefined],
    ['empty', { scopes: [] }, []],
    ['given', { scopes: ['a.*'] }, ['a.*']],
  ])('scopes that are %s stay so', (_what, scopes, expected) => {
    expect(parsePrincipal({ ...wire, ...scopes })?.scopes).toEqual(expected);
  });

  test.each<[string, unknown]>([
    ['scopes that are a string', { ...wire, scopes: 'a.*' }],
    ['scopes that are an object', { ...wire, scopes: {} }],
    ['a scope that is not a string', { ...wire, scopes: [null] }],
    ['an administrator by the word "true"', { ...wire, is_system_admin: 'true' }],
    ['a tenant id that is not a UUID', { ...wire, tenant_id: '1' }],
    ['a tenant without a slug', { ...wire, tenants: [{ id: TENANT }] }],
    ['an expiry that is not a time', { ...wire, expires_at: 'soon' }],
    ['an unknown kind of caller', { ...wire, type: 'robot' }],
    ['no id', { ...wire, id: undefined }],
    ['a failure', { success: false, message: 'no' }],
    ['a list', [wire]],
    ['a page of HTML', '<html>'],
    ['nothing', undefined],
    ['null', null],
  ])('refuses %s', (_what, body) => {
    expect(parsePrincipal(body)).toBeNull();
    expect(parsePrincipal({ success: true, data: body })).toBeNull();
  });

  test('never throws, whatever the input', () => {
    fc.assert(
      fc.property(fc.anything(), (body) => {
        parsePrincipal(body);
        parsePrincipal({ ...wire, tenants: body, scopes: body });
        parsePolicies(body);
        parsePolicies({ data: body, meta: body });
      }),
    );
  });
});

describe('parsePolicies', () => {
  const policies = [
    { action: '*', effect: 'allow' },
    { action: 'identity.roles.*', effect: 'deny' },
  ];

  test('parses a wrapped list with its version, and a bare one without', () => {
    expect(parsePolicies({ success: true, data: policies, meta: { version: 3 } })).toEqual({
      policies,
      version: 3,
    });
    expect(parsePolicies({ data: policies })).toEqual({ policies });
    expect(parsePolicies({ data: policies, meta: { version: null } })).toEqual({ policies });
    expect(parsePolicies(policies)).toEqual({ policies });
    expect(parsePolicies([])).toEqual({ policies: [] });
  });

  test('ignores fields that it does not know', () => {
    const more = policies.map((policy) => ({ ...policy, id: 1 }));
    expect(parsePolicies({ data: more, meta: { total: 2 } })).toEqual({ policies });
  });

  test('accepts an invalid allow, which covers nothing, and refuses an invalid deny', () => {
    expect(parsePolicies([{ action: 'ta*', effect: 'allow' }])).not.toBeNull();
    expect(parsePolicies([...policies, { action: 'ta*', effect: 'deny' }])).toBeNull();
  });

  test.each<[string, unknown]>([
    ['an unknown effect', [{ action: '*', effect: 'Deny' }]],
    ['a policy without an effect', [{ action: '*' }]],
    ['a policy that is null', [null]],
    ['an object instead of a list', { data: {} }],
    ['a version that is not a number', { data: [], meta: { version: '3' } }],
    ['a failure', { success: false, message: 'no' }],
    ['a page of HTML', '<html>'],
    ['nothing', undefined],
  ])('refuses %s', (_what, body) => {
    expect(parsePolicies(body)).toBeNull();
  });
});

test('the type of the payload requires every member that identity always sends', () => {
  const sent: Out<typeof PrincipalPayload> = { ...wire, type: 'user', expires_at: new Date() };
  // @ts-expect-error a name may be null, and is never absent
  const lacking: Out<typeof PrincipalPayload> = { ...sent, name: undefined };
  expect([sent, lacking]).toHaveLength(2);
});
