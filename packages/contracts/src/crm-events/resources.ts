/** What happened to a record, by the action in its history. */
const verbs = {
  create: 'created',
  update: 'updated',
  delete: 'deleted',
  restore: 'restored',
  approve: 'approved',
  archive: 'archived',
  cancel: 'cancelled',
  create_link: 'link_created',
  delete_link: 'link_deleted',
  drop_publication: 'publication_dropped',
  hide: 'hidden',
  merge: 'merged',
  move: 'moved',
  pin: 'pinned',
  publish: 'published',
  recall: 'recalled',
  reject: 'rejected',
  reorder: 'reordered',
  restore_revision: 'revision_restored',
  restore_version: 'version_restored',
  'rotate-token': 'token_rotated',
  scan: 'scanned',
  schedule: 'scheduled',
  start: 'started',
  stop: 'stopped',
  test: 'tested',
  unmerge: 'unmerged',
  unpin: 'unpinned',
  unhide: 'unhidden',
  unpublish: 'unpublished',
  unschedule: 'unscheduled',
  upload: 'version_uploaded',
} as const;

export type HistoryAction = keyof typeof verbs;
export type EventVerb = (typeof verbs)[HistoryAction];

interface Resource {
  /** The table of the records; `table_name` in the history. */
  readonly table: string;
  /** One record, for descriptions. */
  readonly one: string;
  readonly actions: readonly HistoryAction[];
}

const resource = <const A extends HistoryAction>(
  table: string,
  one: string,
  actions: readonly A[],
): Resource & { readonly actions: readonly A[] } => ({ table, one, actions });

/** Records that are deleted for good. */
const permanent = ['create', 'update', 'delete'] as const;
const restorable = [...permanent, 'restore'] as const;
/** Articles, posts and pages. */
const content = [
  ...restorable,
  'publish',
  'unpublish',
  'schedule',
  'unschedule',
  'drop_publication',
  'archive',
  'restore_revision',
] as const;

/**
 * The resources whose changes are events, by the name of their topic without `crm.`: that of their permissions, and for
 * records below others also the name of the list. Each action of their history is an event type.
 */
export const crmEventResources = {
  contacts: resource('contacts', 'a contact', [...restorable, 'merge', 'unmerge']),
  companies: resource('companies', 'a company', restorable),
  communication_logs: resource('communication_logs', 'a communication log', restorable),
  custom_fields: resource('custom_fields', 'a custom field', restorable),
  imports: resource('imports', 'an import', [...restorable, 'start', 'cancel']),
  tasks: resource('tasks', 'a task', [...restorable, 'reorder']),
  projects: resource('projects', 'a project', restorable),
  'projects.members': resource('project_members', 'a member of a project', permanent),
  time_entries: resource('time_entries', 'a time entry', [...restorable, 'stop']),
  leave_requests: resource('leave_requests', 'a leave request', [
    ...restorable,
    'approve',
    'reject',
    'cancel',
  ]),
  documents: resource('documents', 'a document', [
    ...restorable,
    'upload',
    'restore_version',
    'scan',
    'create_link',
    'delete_link',
  ]),
  'documents.versions': resource('document_versions', 'a version of a document', permanent),
  'documents.links': resource('document_links', 'a link to a document', permanent),
  document_folders: resource('document_folders', 'a document folder', restorable),
  'document_folders.members': resource(
    'document_folder_members',
    'a member of a document folder',
    permanent,
  ),
  'chat.channels': resource('channels', 'a channel', restorable),
  'chat.messages': resource('messages', 'a message', [...restorable, 'recall', 'pin', 'unpin']),
  'chat.participants': resource('channel_participants', 'a participant of a channel', permanent),
  'chat.bots': resource('bots', 'a bot', [...restorable, 'rotate-token']),
  'chat.channel_bots': resource('channel_bots', 'a bot of a channel', permanent),
  kb_articles: resource('kb_articles', 'a knowledge-base article', content),
  'kb_articles.comments': resource('kb_article_comments', 'a comment on an article', [
    ...restorable,
    'approve',
    'hide',
    'unhide',
  ]),
  'blog.posts': resource('blog_posts', 'a blog post', content),
  pages: resource('pages', 'a page', [...content, 'move']),
  'kb_articles.previews': resource('kb_article_previews', 'a preview of an article', permanent),
  'blog.posts.previews': resource('blog_post_previews', 'a preview of a post', permanent),
  'pages.previews': resource('page_previews', 'a preview of a page', permanent),
  messaging_accounts: resource('messaging_accounts', 'an SMS or e-mail account', [
    ...permanent,
    'test',
  ]),
} as const;

export type CrmEventResource = keyof typeof crmEventResources;

/** The verb of an action. */
export const verbOf = (action: HistoryAction): EventVerb => verbs[action];

type TypesOf<R extends CrmEventResource> =
  `crm.${R}.${(typeof verbs)[(typeof crmEventResources)[R]['actions'][number]]}`;
/** A type of CRM's events: `crm.<resource>.<verb>`. */
export type CrmEventType = { [R in CrmEventResource]: TypesOf<R> }[CrmEventResource];

/** The types of a resource's events. */
export const crmEventTypesOf = (name: CrmEventResource): readonly CrmEventType[] =>
  crmEventResources[name].actions.map((action) => `crm.${name}.${verbs[action]}` as CrmEventType);

export const crmEventResourceNames = Object.keys(crmEventResources) as CrmEventResource[];

/** Every type, in the order of the resources. */
export const crmEventTypes: readonly CrmEventType[] =
  crmEventResourceNames.flatMap(crmEventTypesOf);

/** The topic of a resource's events: one for all types, because Kafka orders records only within a topic. */
export const crmTopicOf = (name: CrmEventResource): string => `crm.${name}`;
