import type { Policy } from '@tessera/scope-matcher';

export interface BuiltInRole {
  readonly name: string;
  readonly description: string;
  readonly policies: readonly Policy[];
}

const allow = (...actions: string[]): Policy[] =>
  actions.map((action) => ({ action, effect: 'allow' }));

/** Some CRM names have one segment more than others: `tasks.list`, `blog.posts.list`. */
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
 * The roles that every tenant has. Each holds all that the next one holds, so that whoever has a role
 * may give the lesser ones; none denies, so that one more policy can always widen it.
 */
export const builtInRoles = {
  owner: {
    name: 'owner',
    description: 'Everything in the tenant, with what later releases add',
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
