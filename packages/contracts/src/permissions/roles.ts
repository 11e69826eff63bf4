import type { Policy } from '@tessera/scope-matcher';

export interface BuiltInRole {
  readonly name: string;
  readonly description: string;
  readonly policies: readonly Policy[];
}

const allow = (...actions: string[]): Policy[] =>
  actions.map((action) => ({ action, effect: 'allow' }));

/** Permissions of CRM with this verb; their names have different lengths: `tasks.list`, `blog.posts.list`. */
const everywhere = (verb: string): string[] => [
  `tenant.*.crm.*.${verb}`,
  `tenant.*.crm.*.*.${verb}`,
];

const reading = ['tenant.*.crm.chat.access', ...everywhere('list'), ...everywhere('view')];

const dailyWork = [
  ...['create', 'update', 'delete'].map((verb) => `tenant.*.crm.*.${verb}`),
  ...['create', 'update', 'delete'].map((verb) => `tenant.*.crm.blog.posts.${verb}`),
  'tenant.*.crm.chat.channels.*',
  'tenant.*.crm.chat.messages.*',
  'tenant.*.crm.chat.participants.*',
  'tenant.*.crm.kb_articles.comment',
  'identity.members.list',
  'identity.members.view',
];

const administration = [
  ...everywhere('*'),
  'identity.users.create',
  'identity.members.*',
  'identity.roles.*',
  'identity.permissions.*',
  'identity.service_accounts.*',
  'identity.api_keys.*',
  'identity.activity.*',
  'identity.email_accounts.*',
  'identity.sms_accounts.*',
];

/**
 * The roles that every tenant has. Each includes the next one, so that members can grant the roles below their own.
 * None has a deny, so that an additional policy can always extend it.
 */
export const builtInRoles = {
  owner: {
    name: 'owner',
    description: 'Everything in the tenant, including what later releases add',
    policies: allow('*'),
  },
  admin: {
    name: 'admin',
    description: 'All records, and the administration of members, roles, service accounts and keys',
    policies: allow(...administration),
  },
  member: {
    name: 'member',
    description: 'Daily work on the records; no publishing, reviewing, exporting or administration',
    policies: allow(...reading, ...dailyWork),
  },
  viewer: {
    name: 'viewer',
    description: 'Sees the records and changes none',
    policies: allow(...reading),
  },
} as const satisfies Record<string, BuiltInRole>;

export type BuiltInRoleName = keyof typeof builtInRoles;
