import { PermissionRegistry } from '@tessera/contracts';
import { grantScopes as scopesGranted } from './scopes.ts';

const grantScopes = (allowed: readonly string[], requested: readonly string[]) =>
  scopesGranted(new PermissionRegistry(), allowed, requested);

describe('grantScopes', () => {
  const allowed = ['identity.tenants.*', 'tenant.*.crm.contacts.*'];

  test('grants all scopes if none is requested', () => {
    expect(grantScopes(allowed, [])).toEqual({ ok: true, scopes: allowed });
  });

  test('grants exactly the requested scopes', () => {
    const requested = ['tenant.acme.crm.contacts.*', 'identity.tenants.list'];
    expect(grantScopes(allowed, requested)).toEqual({ ok: true, scopes: requested });
  });

  test('rejects scopes that are excessive, misspelled or malformed, and names them', () => {
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

  test('rejects unknown scopes even for an application with all permissions', () => {
    expect(grantScopes(['*'], ['identity.tenants.lsit']).ok).toBe(false);
    expect(grantScopes(['*'], ['identity.tenants.list']).ok).toBe(true);
  });
});
