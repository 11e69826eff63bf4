import type { Reasons } from './resources.ts';

/** The list is a view of records of other lists, which have this. */
const view = (of: string): string => `It shows ${of}, whose own lists have it.`;
const withParent = (parent: string): string => `${parent} has few of them: one page has all.`;
const needsFiles =
  'Its records have encrypted files in the file store, which the seeder does not write.';
const notSeeded = 'The seed has no rows; scenarios of the same list code are measured.';
const settings =
  'These are settings of operators, read through identity; a tenant has a handful of them.';
const secrets = 'They contain credentials of providers, sealed by a key that the seeder lacks.';

const timeline = {
  sort: 'A timeline runs from the newest to the oldest.',
  export: view('communication logs, tasks and changes'),
  history: view('communication logs, tasks and changes'),
  events: view('communication logs, tasks and changes'),
  seed: view('communication logs, tasks and changes'),
};

const accounts = {
  filters: settings,
  export: 'An export would contain how to reach providers; the list of a handful suffices.',
  history: 'Changes are in the history table; services read accounts, not their past.',
  seed: secrets,
  benchmark: notSeeded,
};

const translations = {
  sort: 'Translations are ordered by language.',
  filters: withParent('A record'),
  export: view('contents'),
  history: view('contents'),
  events: view('contents'),
  seed: view('contents'),
  benchmark: 'It is the list of contents with two filters, which have few hits.',
};
const revisions = {
  sort: 'Revisions run from the newest to the oldest.',
  filters: 'Users page through the revisions of one record.',
  export:
    'The export of the contents has the current text; revisions are read and compared singly.',
  history: 'A revision never changes.',
  events: 'A revision is made by a change of its record, which is an event.',
  seed: view('changes in the history, which the seed has for contents'),
  benchmark: 'It reads a few rows of the history by an index; the history of updates is measured.',
};
const previews = {
  filters: withParent('A record'),
  export: 'A preview link expires soon, and its token is shown once.',
  history: 'A preview link is created and deleted, and never changes.',
  seed: 'A preview link expires within days, and nobody could open one whose token was never shown.',
  benchmark: notSeeded,
};
const filteredTrash = (of: string) => ({
  export: `The export of ${of} has what is kept; the trash shows what to restore.`,
  history: `A restoration and a deletion are in the history of ${of}.`,
  benchmark: 'It reads rows in the order of an index, as the lists that are measured.',
});
const trash = (of: string) => ({
  filters: 'The trash has what was deleted, newest first, to find what was deleted by mistake.',
  ...filteredTrash(of),
});
const tags = {
  history: 'A tag exists while records have it; their history shows it.',
  events: 'A tag exists while records have it; the events are theirs.',
  benchmark: 'It reads kept counts, as the totals of filtered lists that are measured.',
};
const log = 'It is a log of deliveries, written by CRM alone.';
const noEndpoints = 'Endpoints would send requests to addresses that nobody has chosen.';

const merges = 'merges, which the history of both contacts has';

/**
 * Why a list lacks something that users expect of lists. A new list has everything or has its reasons here; a reason
 * that is no longer needed fails the test as well.
 */
export const reasons: Reasons = {
  '/contacts/{id}/merges': {
    sort: 'Merges run from the newest to the oldest.',
    filters: withParent('A contact'),
    export: view('contacts that are merged'),
    history: view(merges),
    events: view(merges),
    seed: 'The seed has no merges.',
    benchmark: 'It reads a few rows by an index, as the lists that are measured.',
  },
  '/contacts/{id}/timeline': timeline,
  '/companies/{id}/timeline': timeline,
  '/companies/duplicates': {
    sort: 'Groups of duplicates are ordered by their values.',
    export: view('companies'),
    history: view('companies'),
    events: view('companies'),
    seed: view('companies'),
    benchmark: 'It groups a whole table on request, rarely; no list of rows is comparable.',
  },
  '/companies/{id}/addresses': {
    sort: 'Addresses keep the order in which the company has them.',
    filters: withParent('A company'),
    export: view('a field of companies'),
    history: view('a field of companies'),
    events: view('a field of companies'),
    seed: view('a field of companies'),
    benchmark: 'It reads one company by its id.',
  },
  '/documents/trash': { ...filteredTrash('documents'), seed: needsFiles },
  '/document-folders/trash': filteredTrash('folders'),
  // By custom fields.
  '/contacts/trash': filteredTrash('contacts'),
  '/companies/trash': filteredTrash('companies'),
  '/communication-logs/trash': filteredTrash('communication logs'),
  '/projects/trash': filteredTrash('projects'),
  '/tasks/trash': filteredTrash('tasks'),
  '/time-entries/trash': trash('time entries'),
  '/leave-requests/trash': trash('leave requests'),
  '/imports/trash': { ...trash('imports'), seed: needsFiles },
  '/kb-articles/trash': filteredTrash('articles'),
  '/kb-articles/{id}/comments/trash': trash('comments'),
  '/blog-posts/trash': filteredTrash('posts'),
  '/pages/trash': filteredTrash('pages'),
  '/bots/trash': trash('bots'),
  '/channels/trash': filteredTrash('channels'),
  '/channels/{id}/messages/trash': trash('messages'),
  '/webhook-endpoints/trash': {
    ...trash('webhook endpoints'),
    events: 'Webhook endpoints have no events.',
    seed: noEndpoints,
  },
  '/channels/{id}/participants': { export: withParent('A channel') },
  '/channels/{id}/messages': {
    sort: 'Messages are read by position, before or after a message.',
    export: 'Users read conversations in the channel, page by page in either direction.',
  },
  '/channels/{id}/messages/{messageId}/reactions': {
    sort: 'Reactions are shown in the order in which they were added.',
    filters: withParent('A message'),
    export: withParent('A message'),
    history: 'A reaction is added and removed, and has no content of its own.',
    events: 'Reactions reach the streams of the chat; a webhook for each would be noise.',
    seed: 'The seed has reactions; they have no declared kind with a table.',
    benchmark: withParent('A message'),
  },
  '/chat/messages': {
    export: view('messages'),
    history: view('messages'),
    events: view('messages'),
    seed: view('messages'),
    benchmark: 'It uses the search of lists, which is measured on contacts and companies.',
  },
  '/bots': { export: 'A tenant has a few bots: one page has all.' },
  '/channels/{id}/bots': {
    filters: withParent('A channel'),
    export: withParent('A channel'),
  },
  '/tasks/board': {
    sort: 'Columns are in the order that users give the tasks.',
    export: view('tasks'),
    history: view('tasks'),
    events: view('tasks'),
    seed: view('tasks'),
  },
  '/documents': { seed: needsFiles, benchmark: notSeeded },
  '/documents/{id}/versions': {
    filters: withParent('A document'),
    export: withParent('A document'),
    history: 'A version never changes.',
    seed: needsFiles,
    benchmark: notSeeded,
  },
  '/documents/{id}/links': {
    filters: withParent('A document'),
    export: withParent('A document'),
    history: 'The history of the document shows the creation and the deletion of links.',
    seed: needsFiles,
    benchmark: notSeeded,
  },
  '/document-folders/{id}/members': {
    filters: withParent('A folder'),
    export: withParent('A folder'),
  },
  '/orphans': {
    sort: 'Pages are found by id, while identity is asked who is left.',
    export: 'Owners take orphans over one by one; there are few.',
    history: 'The history is that of the record.',
    events: 'A record becomes an orphan by what happens at identity.',
    seed: 'Members of the sample data do not leave.',
    benchmark: 'It asks identity, whose time it takes.',
  },
  '/imports': { seed: needsFiles, benchmark: notSeeded },
  '/activity': {
    history: 'An entry never changes.',
    events: 'An entry is about a change that is an event itself.',
  },
  '/tags': { ...tags, seed: view('tags of contacts and companies') },
  '/content-tags': { ...tags, seed: view('tags of contents') },
  '/kb-articles/{id}/translations': translations,
  '/kb-articles/{id}/revisions': revisions,
  '/kb-articles/{id}/previews': previews,
  '/kb-articles/{id}/comments': {
    export: 'Comments are read with their article.',
  },
  '/blog-posts/{id}/translations': translations,
  '/blog-posts/{id}/revisions': revisions,
  '/blog-posts/{id}/previews': previews,
  '/pages/{id}/translations': translations,
  '/pages/{id}/revisions': revisions,
  '/pages/{id}/previews': previews,
  '/kb-articles/{id}/feedback': {
    export: 'Moderators read the votes of one article; the article has their numbers.',
    history: 'A vote has no content of its own.',
    events: 'Votes of visitors would be noise for webhooks.',
  },
  '/kb-article-comments': {
    export: 'Comments are moderated in the list.',
    history: 'The history of a comment is below its article.',
  },
  '/webhook-endpoints': {
    events: 'They say where events go, and their changes are in the history.',
    seed: noEndpoints,
    benchmark: notSeeded,
  },
  '/webhook-deliveries': {
    export: 'It is a log of deliveries that is kept for a short time.',
    history: log,
    events: log,
    seed: noEndpoints,
    benchmark: notSeeded,
  },
  '/webhook-deliveries/{id}/attempts': {
    filters: withParent('A delivery'),
    export: withParent('A delivery'),
    history: log,
    events: log,
    seed: noEndpoints,
    benchmark: notSeeded,
  },
  '/system/email/accounts': accounts,
  '/system/sms/accounts': accounts,
};
