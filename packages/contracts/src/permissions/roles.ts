import type { Policy } from '@tessera/scope-matcher';
import { type CrmPermission, crmPermission } from './crm.ts';

export interface BuiltInRole {
  readonly name: string;
  readonly description: string;
  readonly policies: readonly Policy[];
}

const allow = (...actions: string[]): Policy[] =>
  actions.map((action) => ({ action, effect: 'allow' }));

type Level = 'viewer' | 'member' | 'admin' | 'owner';

/** The resources whose records can be listed, viewed, created, updated and deleted. */
type RecordResource = {
  [P in CrmPermission]: P extends `${infer R}.delete` ? R : never;
}[CrmPermission];
type ReadPermission = `${RecordResource}.${'list' | 'view'}`;
type ChangePermission = `${RecordResource}.${'create' | 'update' | 'delete'}`;

interface Levels {
  readonly read: Level;
  readonly change: Level;
}

const dailyWork: Levels = { read: 'viewer', change: 'member' };

/** The lowest role that may list and view the records of each resource, and the lowest that may change them. */
const resources: Readonly<Record<RecordResource, Levels>> = {
  contacts: dailyWork,
  companies: dailyWork,
  imports: { read: 'admin', change: 'admin' },
  // Everyone who may see contacts needs the labels and types of their fields.
  custom_fields: { read: 'viewer', change: 'admin' },
  communication_logs: dailyWork,
  tasks: dailyWork,
  projects: dailyWork,
  time_entries: dailyWork,
  leave_requests: dailyWork,
  documents: dailyWork,
  document_folders: dailyWork,
  'chat.channels': dailyWork,
  'chat.messages': dailyWork,
  'chat.participants': dailyWork,
  'chat.bots': { read: 'viewer', change: 'admin' },
  kb_articles: dailyWork,
  'blog.posts': dailyWork,
  pages: dailyWork,
  webhooks: { read: 'admin', change: 'admin' },
};

/** The lowest role that holds each other permission of CRM. */
const others: Readonly<Record<Exclude<CrmPermission, ReadPermission | ChangePermission>, Level>> = {
  'contacts.export': 'admin',
  'companies.export': 'admin',
  'imports.export': 'admin',
  'custom_fields.export': 'admin',
  'communication_logs.export': 'admin',
  'tasks.export': 'admin',
  'projects.export': 'admin',
  'time_entries.export': 'admin',
  'leave_requests.export': 'admin',
  'leave_requests.review': 'admin',
  'documents.export': 'admin',
  'documents.share': 'member',
  'document_folders.export': 'admin',
  'chat.access': 'viewer',
  'chat.channels.export': 'admin',
  'kb_articles.export': 'admin',
  'kb_articles.publish': 'admin',
  'kb_articles.comment': 'member',
  'kb_articles.moderate': 'admin',
  'blog.posts.export': 'admin',
  'blog.posts.publish': 'admin',
  'pages.export': 'admin',
  'pages.publish': 'admin',
  'private.records.orphans.list': 'owner',
  'private.records.orphans.update': 'owner',
  'activity.list': 'admin',
  'activity.export': 'admin',
  'webhooks.export': 'admin',
  'settings.view': 'admin',
  'settings.update': 'admin',
};

/** The permissions of CRM that a level has in addition to those of the level below, for every tenant. */
const ofCrm = (level: Level): string[] =>
  [
    ...Object.entries(resources).flatMap(([resource, { read, change }]) => [
      ...(read === level ? ['list', 'view'] : []).map((verb) => `${resource}.${verb}`),
      ...(change === level ? ['create', 'update', 'delete'] : []).map(
        (verb) => `${resource}.${verb}`,
      ),
    ]),
    ...Object.entries(others).flatMap(([permission, least]) => (least === level ? permission : [])),
  ].map((permission) => crmPermission('*', permission as CrmPermission));

const reading = ofCrm('viewer');

const working = [...ofCrm('member'), 'identity.members.list', 'identity.members.view'];

const administration = [
  // Everything of CRM, including what later releases add; names have two or three segments. Those of what only
  // owners may do have four (decision C26).
  'tenant.*.crm.*.*',
  'tenant.*.crm.*.*.*',
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
 * The revision of `builtInRoles`. Raise it with each change: a process of an earlier release that starts later, such as a
 * replica during an update or an administration program, then leaves the stored roles as they are.
 */
export const builtInRolesRevision = 1;

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
    policies: allow(...reading, ...working),
  },
  viewer: {
    name: 'viewer',
    description: 'Sees the records and changes none',
    policies: allow(...reading),
  },
} as const satisfies Record<string, BuiltInRole>;

export type BuiltInRoleName = keyof typeof builtInRoles;
