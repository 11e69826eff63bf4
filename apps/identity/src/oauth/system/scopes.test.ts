import { grantScopes } from './scopes.ts';

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
