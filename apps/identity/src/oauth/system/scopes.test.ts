import { coversPattern, grantScopes } from './scopes.ts';

describe('coversPattern', () => {
  test.each([
    ['*', 'identity.tenants.list'],
    ['*', 'identity.*'],
    ['identity.tenants.*', 'identity.tenants.list'],
    ['identity.tenants.*', 'identity.tenants.*'],
    ['tenant.*.crm.*.list', 'tenant.acme.crm.*.list'],
    ['identity.*.*', 'identity.tenants.*'],
  ])('%s covers %s', (pattern, other) => {
    expect(coversPattern(pattern, other)).toBe(true);
  });

  test.each([
    ['identity.tenants.list', 'identity.tenants.*'],
    ['identity.tenants.*', 'identity.tenants'],
    ['identity.tenants.*', 'identity.tenants.versions.update'],
    ['identity.*', '*'],
    ['tenant.acme.crm.contacts.list', 'tenant.*.crm.contacts.list'],
  ])('%s does not cover %s', (pattern, other) => {
    expect(coversPattern(pattern, other)).toBe(false);
  });
});

describe('grantScopes', () => {
  const allowed = ['identity.tenants.*', 'tenant.*.crm.contacts.*'];

  test('gives everything where nothing is named', () => {
    expect(grantScopes(allowed, [])).toEqual({ ok: true, scopes: allowed });
  });

  test('gives exactly what is named', () => {
    const requested = ['tenant.acme.crm.contacts.*', 'identity.tenants.list'];
    expect(grantScopes(allowed, requested)).toEqual({ ok: true, scopes: requested });
  });

  test('refuses what is beyond, mistyped or malformed, and names it', () => {
    const beyond = [
      'identity.users.list',
      'identity.tenants.lsit',
      'identity.tenants.',
      'ta*',
      '*',
    ];
    expect(grantScopes(allowed, ['identity.tenants.view', ...beyond])).toEqual({
      ok: false,
      refused: beyond,
    });
  });

  test('refuses what does not exist even to an application that may do everything', () => {
    expect(grantScopes(['*'], ['identity.tenants.lsit']).ok).toBe(false);
    expect(grantScopes(['*'], ['identity.tenants.list']).ok).toBe(true);
  });
});
