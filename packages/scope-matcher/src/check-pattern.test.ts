import { checkPattern } from './index.ts';

const registry = [
  'identity.users.list',
  'identity.users.create',
  'identity.tenants.versions.update',
  'tenant.{slug}.crm.tasks.view',
  'tenant.{slug}.crm.blog.posts.view',
];

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
    ['identiti.users.list', 'no permission has "identiti" as segment 1'],
    ['identity.userz.*', 'no permission has "userz" as segment 2 after "identity"'],
    [
      'tenant.acme.crm.tasks.wiew',
      'no permission has "wiew" as segment 5 after "tenant.acme.crm.tasks"',
    ],
    ['identity.users.versions', 'no permission has "versions" as segment 3 after "identity.users"'],
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

  test('without registered permissions, only * is known', () => {
    expect(checkPattern('*', [])).toEqual({ known: true, covers: 0 });
    expect(checkPattern('a', []).known).toBe(false);
  });
});
