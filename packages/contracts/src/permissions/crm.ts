type Verb = 'list' | 'view' | 'create' | 'update' | 'delete';

/** The five permissions that every kind of record has. */
const record = <const R extends string>(resource: R, one: string, many: string) =>
  ({
    [`${resource}.list`]: `List and search ${many}`,
    [`${resource}.view`]: `See ${one}`,
    [`${resource}.create`]: `Create ${one}`,
    [`${resource}.update`]: `Change ${one}`,
    [`${resource}.delete`]: `Delete and restore ${one}`,
  }) as Record<`${R}.${Verb}`, string>;

/** Short name -> description. The full name is `tenant.<slug>.crm.<short name>`. */
export const crmPermissions = {
  ...record('contacts', 'a contact', 'contacts'),
  'contacts.export': 'Export contacts',
  ...record('companies', 'a company', 'companies'),
  'companies.export': 'Export companies',
  ...record('imports', 'an import', 'imports'),
  'imports.export': 'Export the list of imports',
  ...record('custom_fields', 'a custom field of contacts', 'custom fields'),
  'custom_fields.export': 'Export the declarations of custom fields',
  ...record('communication_logs', 'a communication log', 'communication logs'),
  'communication_logs.export': 'Export communication logs',

  ...record('tasks', 'a task', 'tasks'),
  'tasks.export': 'Export tasks',
  ...record('projects', 'a project', 'projects'),
  'projects.export': 'Export projects',
  ...record('time_entries', 'a time entry', 'time entries'),
  'time_entries.export': 'See and change the time entries of others, and export them',
  ...record('leave_requests', 'a leave request', 'leave requests'),
  'leave_requests.export': 'Export leave requests',
  'leave_requests.review': 'See the leave requests of others, approve and reject them',

  ...record('documents', 'a document', 'documents'),
  'documents.export': 'Export the list of documents',
  'documents.share': 'Create and end links by which anybody can download a document',
  ...record('document_folders', 'a document folder', 'document folders'),
  'document_folders.export': 'Export the list of document folders',

  'chat.access': 'Use the chat; required in addition to every other chat permission',
  ...record('chat.channels', 'a chat channel', 'chat channels'),
  'chat.channels.export': 'Export the list of chat channels',
  ...record('chat.messages', 'a chat message', 'chat messages'),
  ...record('chat.participants', 'a participant of a channel', 'participants of a channel'),
  ...record('chat.bots', 'a bot of a channel', 'bots of a channel'),

  ...record('kb_articles', 'a knowledge-base article', 'knowledge-base articles'),
  'kb_articles.export': 'Export knowledge-base articles',
  'kb_articles.publish': 'Publish and unpublish a knowledge-base article',
  'kb_articles.comment': 'Comment on a knowledge-base article',
  'kb_articles.moderate': 'Moderate the comments on knowledge-base articles',
  ...record('blog.posts', 'a blog post', 'blog posts'),
  'blog.posts.export': 'Export blog posts',
  'blog.posts.publish': 'Publish and unpublish a blog post',
  ...record('pages', 'a page', 'pages'),
  'pages.export': 'Export pages',
  'pages.publish': 'Publish and unpublish a page',

  'private.records.orphans.list': 'List private records whose members have all left',
  'private.records.orphans.update': 'Take over private records whose members have left',

  'activity.list': 'See the activity log of CRM',
  'activity.export': 'Export the activity log of CRM',

  ...record('webhooks', 'a webhook endpoint', 'webhook endpoints'),
  'webhooks.export': 'Export the list of webhook endpoints',

  'settings.view': 'See the settings of the tenant',
  'settings.update': 'Change the settings of the tenant',
} as const;

export type CrmPermission = keyof typeof crmPermissions;

/** The full name of a permission of a service in one tenant, which policies and scopes are matched with. */
export const servicePermission = (service: string, slug: string, shortName: string): string =>
  `tenant.${slug}.${service}.${shortName}`;

/** The full name of a CRM permission in one tenant. */
export const crmPermission = (slug: string, shortName: CrmPermission): string =>
  servicePermission('crm', slug, shortName);
