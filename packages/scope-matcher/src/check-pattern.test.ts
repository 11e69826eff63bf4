import { checkPattern } from './index.ts';

const registry = [
  'identity.users.list',
  'identity.users.create',
  'identity.tenants.versions.update',
  'tenant.{slug}.crm.tasks.view',
  'tenant.{slug}.crm.blog.posts.view',
].map((permission) => permission.split('.'));

describe('checkPattern', () => {
  test.each([
    ['*', 5],
    ['identity.users.list', 1],
    ['identity.users.*', 2],
    ['*.users.*', 2],
    ['tenant.acme.crm.tasks.view', 1],
    ['tenant.*.crm.tasks.*', 1],
    ['tenant.acme.crm.blog.posts.view', 1],
    ['*.*.*.*.*', 1],
  ])('%s is known and covers %d', (pattern, covers) => {
    expect(checkPattern(pattern, registry)).toEqual({ known: true, covers });
  });

  test.each(['identity.*', '*.*', 'tenant.acme.*', 'tenant.*.crm.blog.*', '*.tenants.versions'])(
    '%s is the beginning of known permissions and covers none',
    (pattern) => {
      expect(checkPattern(pattern, registry)).toEqual({ known: true, covers: 0 });
    },
  );

  test.each([
    ['identiti.users.list', 'no permission has "identiti" as segment 1 (known: identity, tenant)'],
    [
      'identity.userz.*',
      'no permission has "userz" as segment 2 after "identity" (known: users, tenants)',
    ],
    [
      'tenant.acme.crm.tasks.wiew',
      'no permission has "wiew" as segment 5 after "tenant.acme.crm.tasks" (known: view)',
    ],
    [
      'identity.users.versions',
      'no permission has "versions" as segment 3 after "identity.users" (known: list, create)',
    ],
    ['identity.users.list.own', 'no permission has "own" as segment 4 after "identity.users.list"'],
    ['identity.users.list.*', 'no permission has "*" as segment 4 after "identity.users.list"'],
    ['identity', 'it is only the beginning of permissions such as identity.users.list'],
    [
      'tenant.acme.crm.tasks',
      'it is only the beginning of permissions such as tenant.{slug}.crm.tasks.view',
    ],
    [
      'identity.us*',
      'segment 2 ("us*") mixes * with other characters: * stands for one whole segment',
    ],
    ['', 'the pattern is empty'],
  ])('%j is unknown, and the reason names the segment', (pattern, reason) => {
    expect(checkPattern(pattern, registry)).toEqual({ known: false, reason });
  });

  test('placeholders stand for one literal if it is given', () => {
    const pattern = 'tenant.other.crm.tasks.view';
    expect(checkPattern(pattern, registry, 'other')).toEqual({ known: true, covers: 1 });
    const reason = 'no permission has "other" as segment 2 after "tenant" (known: acme)';
    expect(checkPattern(pattern, registry, 'acme')).toEqual({ known: false, reason });
    expect(checkPattern('tenant.*.crm.tasks.view', registry, 'acme').known).toBe(true);
  });

  test('the reason lists no more than 20 known segments', () => {
    const many = Array.from({ length: 21 }, (_, index) => ['a', `b${index}`]);
    const reason = 'no permission has "c" as segment 2 after "a"';
    expect(checkPattern('a.c', many)).toEqual({ known: false, reason });
  });

  test('without registered permissions, only * is known', () => {
    expect(checkPattern('*', [])).toEqual({ known: true, covers: 0 });
    expect(checkPattern('a', []).known).toBe(false);
  });
});
