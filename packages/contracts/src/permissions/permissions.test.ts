import { createHash } from 'node:crypto';
import { covers, decide, grantsBeyond, parsePattern } from '@tessera/scope-matcher';
import {
  type BuiltInRoleName,
  builtInRoles,
  builtInRolesRevision,
  type CrmPermission,
  crmPermission,
  crmPermissions,
  type IdentityPermission,
  isSystemPermission,
  PermissionRegistry,
  tenantPermissions,
} from '../index.ts';

const registry = new PermissionRegistry();
const permissionNames = registry.permissions.map(({ name }) => name);
const concrete = permissionNames.map((name) => name.replace('{slug}', 'acme'));
const ofCrm = Object.keys(crmPermissions) as CrmPermission[];

const heldBy = (role: BuiltInRoleName): string[] =>
  concrete.filter((permission) => decide(builtInRoles[role].policies, permission).allowed);

describe('the permission registry', () => {
  test('lists no permission twice, and each with a description', () => {
    expect(new Set(permissionNames).size).toBe(permissionNames.length);
    for (const { name, description } of registry.permissions) {
      expect([name, description]).toEqual([name, expect.stringMatching(/^[A-Z].{5,70}[^.]$/)]);
    }
  });

  test('every name is a valid pattern that covers itself', () => {
    for (const permission of concrete) {
      expect(parsePattern(permission)).toMatchObject({ ok: true });
      expect(covers(permission, permission)).toBe(true);
      expect(registry.check(permission)).toEqual({ known: true, covers: 1 });
    }
  });

  test('contains every permission that the specifications name', () => {
    const named = `
      contacts.list contacts.create contacts.view contacts.update contacts.delete companies.list
      companies.create companies.view companies.update companies.delete communication_logs.list
      communication_logs.create tasks.list tasks.create tasks.update tasks.delete projects.list
      projects.create projects.update time_entries.list time_entries.create time_entries.update
      time_entries.delete time_entries.export leave_requests.list leave_requests.create
      leave_requests.review documents.list documents.create documents.update documents.delete
      documents.view document_folders.list document_folders.create document_folders.update
      chat.access chat.messages.create chat.messages.view chat.messages.update kb_articles.list
      kb_articles.create kb_articles.publish kb_articles.comment blog.posts.list blog.posts.create
      blog.posts.publish pages.list pages.create pages.publish`;
    expect(ofCrm).toEqual(expect.arrayContaining(named.trim().split(/\s+/)));
    expect(permissionNames).toEqual(
      expect.arrayContaining([
        'identity.users.list',
        'identity.users.create',
        'identity.tenants.versions.update',
        'identity.service_accounts.delete',
        'identity.api_keys.list',
        'identity.api_keys.create',
        'identity.api_keys.revoke',
        'tenant.{slug}.crm.tasks.view',
      ]),
    );
  });

  test('reports patterns that no permission matches, with index and reason', () => {
    const patterns = ['identity.*', 'identity.membres.list', '*', 'tenant.acme.crm.tasks.ta*'];
    expect(registry.unknownPatterns(patterns)).toEqual([
      { pattern: patterns[1], index: 1, reason: expect.stringContaining('"membres"') },
      { pattern: patterns[3], index: 3, reason: expect.stringContaining('mixes *') },
    ]);
    expect(registry.unknownPatterns([])).toEqual([]);
  });

  test.each([
    'tenant.acme.crm.contacts.view',
    'tenant.*.crm.contacts.*',
    '*.*.*.*.*',
    'identity.*.*',
    '*',
  ])('%s is known in the tenant acme, as a scope and as an action', (pattern) => {
    expect(registry.unknownPatterns([pattern], 'acme')).toEqual([]);
    expect(registry.ineffectiveAction(pattern, 'acme')).toBeUndefined();
  });

  test.each([
    'tenant.other.crm.contacts.view',
    'tenant.other.*',
    '*.other.crm.*.*',
    'tenant.Acme.crm.tasks.view',
  ])('%s names another tenant than acme', (pattern) => {
    const reason = expect.stringContaining('as segment 2 after');
    expect(registry.unknownPatterns([pattern], 'acme')).toEqual([{ pattern, index: 0, reason }]);
    expect(registry.ineffectiveAction(pattern, 'acme')).toEqual(reason);
  });

  test.each(['identity.*', '*.*', 'tenant.*.crm.contacts'])(
    'an action that covers no permission, %s, has no effect',
    (action) => {
      expect(registry.ineffectiveAction(action)).toContain('covers no permission');
    },
  );

  test.each(['identity.tenants.list', 'identity.tenants.*', '*.tenants.versions.*'])(
    'an action that covers permissions of the system only, %s, has no effect',
    (action) => {
      expect(registry.unknownPatterns([action])).toEqual([]);
      expect(registry.ineffectiveAction(action)).toContain('only system administrators');
    },
  );

  test('gives the full name of a CRM permission in a tenant', () => {
    expect(crmPermission('acme', 'blog.posts.list')).toBe('tenant.acme.crm.blog.posts.list');
  });

  test('rejects an unknown name at compile time', () => {
    // @ts-expect-error a typo
    crmPermission('acme', 'contacts.lsit');
    // @ts-expect-error the short names are CRM's
    const wrong: IdentityPermission = 'contacts.list';
    expect(isSystemPermission(wrong)).toBe(false);
  });

  test('distinguishes system permissions from those of a tenant', () => {
    expect(isSystemPermission('identity.tenants.suspend')).toBe(true);
    expect(isSystemPermission('identity.users.impersonate')).toBe(true);
    expect(Object.keys(tenantPermissions).filter(isSystemPermission)).toEqual([]);
    expect(isSystemPermission('toString')).toBe(false);
  });
});

describe('the built-in roles', () => {
  test.each(Object.values(builtInRoles))('$name names known permissions only', ({ policies }) => {
    for (const { action } of policies) {
      expect([action, registry.ineffectiveAction(action)]).toEqual([action, undefined]);
    }
  });

  test('have a revision that was raised when they changed', () => {
    // Of each revision, the latest last. Never change an entry that has been released: add one.
    const digests = ['62ca60a030b0af30'];
    const text = JSON.stringify(builtInRoles);
    const digest = createHash('sha256').update(text).digest('hex').slice(0, 16);
    expect([builtInRolesRevision, digest]).toEqual([digests.length, digests.at(-1)]);
  });

  test('none has a deny', () => {
    const effects = Object.values(builtInRoles).flatMap(({ policies }) =>
      policies.map(({ effect }) => effect),
    );
    expect(new Set(effects)).toEqual(new Set(['allow']));
  });

  test('an owner holds everything', () => {
    expect(heldBy('owner')).toEqual(concrete);
  });

  test('an admin holds all of CRM and all that belongs to the tenant, except for private records of others, and nothing of the system', () => {
    const ofOwners = /\.private\.records\.orphans\.\w+$/;
    expect(heldBy('admin')).toEqual(
      concrete.filter((p) => !isSystemPermission(p) && !ofOwners.test(p)),
    );
  });

  test('a member holds no administration', () => {
    const kept = [
      'tenant.acme.crm.contacts.export',
      'tenant.acme.crm.companies.export',
      'tenant.acme.crm.imports.export',
      'tenant.acme.crm.custom_fields.export',
      'tenant.acme.crm.communication_logs.export',
      'tenant.acme.crm.tasks.export',
      'tenant.acme.crm.projects.export',
      'tenant.acme.crm.time_entries.export',
      'tenant.acme.crm.leave_requests.export',
      'tenant.acme.crm.leave_requests.review',
      'tenant.acme.crm.documents.export',
      'tenant.acme.crm.document_folders.export',
      'tenant.acme.crm.chat.channels.export',
      'tenant.acme.crm.kb_articles.export',
      'tenant.acme.crm.kb_articles.publish',
      'tenant.acme.crm.kb_articles.moderate',
      'tenant.acme.crm.blog.posts.export',
      'tenant.acme.crm.blog.posts.publish',
      'tenant.acme.crm.pages.export',
      'tenant.acme.crm.pages.publish',
      'tenant.acme.crm.chat.bots.create',
      'tenant.acme.crm.chat.bots.update',
      'tenant.acme.crm.chat.bots.delete',
      'tenant.acme.crm.webhooks.list',
      'tenant.acme.crm.webhooks.view',
      'tenant.acme.crm.webhooks.create',
      'tenant.acme.crm.webhooks.update',
      'tenant.acme.crm.webhooks.delete',
      'tenant.acme.crm.webhooks.export',
      'tenant.acme.crm.imports.list',
      'tenant.acme.crm.imports.view',
      'tenant.acme.crm.imports.create',
      'tenant.acme.crm.imports.update',
      'tenant.acme.crm.imports.delete',
      'tenant.acme.crm.custom_fields.create',
      'tenant.acme.crm.custom_fields.update',
      'tenant.acme.crm.custom_fields.delete',
      'tenant.acme.crm.private.records.orphans.list',
      'tenant.acme.crm.private.records.orphans.update',
      'tenant.acme.crm.activity.list',
      'tenant.acme.crm.activity.export',
      'tenant.acme.crm.settings.view',
      'tenant.acme.crm.settings.update',
    ];
    const held = heldBy('member');
    expect(held.filter((p) => p.startsWith('identity.'))).toEqual([
      'identity.members.list',
      'identity.members.view',
    ]);
    const ofTenant = concrete.filter((p) => p.startsWith('tenant.'));
    expect(held.filter((p) => p.startsWith('tenant.'))).toEqual(
      ofTenant.filter((p) => !kept.includes(p)),
    );
  });

  test('a viewer holds exactly the read permissions of CRM, except for settings, imports, webhooks, orphans and the activity log, and access to the chat', () => {
    const reads = ofCrm.filter(
      (name) =>
        name === 'chat.access' ||
        (/\.(list|view)$/.test(name) &&
          !/^(settings|imports|activity|webhooks|private)\./.test(name)),
    );
    expect(heldBy('viewer')).toEqual(reads.map((name) => crmPermission('acme', name)));
  });

  test('each can be granted by members with the next higher role, but not the reverse', () => {
    const order = [
      builtInRoles.owner,
      builtInRoles.admin,
      builtInRoles.member,
      builtInRoles.viewer,
    ];
    const before = { policies: [] };
    for (const [index, lesser] of order.slice(1).entries()) {
      const greater = order[index] ?? builtInRoles.owner;
      expect(grantsBeyond({ holder: greater, before, after: lesser })).toEqual([]);
      expect(grantsBeyond({ holder: lesser, before, after: greater })).not.toEqual([]);
    }
  });
});
