import type { CatalogueColumn, CatalogueTable } from '@tessera/database-kit';

/** Tables that the export of a tenant leaves out, and why. */
export const leftOutTables: Readonly<Record<string, string>> = {
  chat_events: 'Announces changes of `messages` and other tables to open streams; kept for a day.',
  chat_feeds: 'Numbers the rows of `chat_events`.',
  idempotency_keys: 'Responses for repeated requests; kept for a day, and may contain new tokens.',
  import_chunks: 'The file of an import that has not ended; the sender has it.',
  outbox: 'Events that wait to be sent; `record_changes` has the changes.',
  pending_files: 'Objects in the file store that no record refers to.',
  record_counts: 'Counts of the rows of other tables.',
  tag_counts: 'Counts of the tags of other tables.',
  upload_parts: 'Parts of files whose upload has not ended.',
  uploads: 'Uploads that have not ended, or have become documents.',
};

/** Columns that the export of a tenant leaves out, and why; `*` is every table. */
export const leftOutColumns: Readonly<Record<string, string>> = {
  '*.token_hash': 'Verifies a secret.',
  '*.sealed_key': 'An encrypted key of the file store; the files are exported decrypted.',
  '*.principal': 'The rights that somebody had when they started the work.',
  'file_contents.object_id': 'The place in the file store.',
  'file_contents.words': 'The search index of the file.',
  'kb_article_feedback.visitor_hash': 'Recognizes a visitor who votes again.',
  'messaging_accounts.sealed_credentials': 'Encrypted credentials.',
  'webhook_endpoints.sealed_secrets': 'Encrypted signing secrets.',
};

/** Columns that look like secrets or are binary, and are none. */
const harmless: readonly string[] = [
  '*.token_id',
  'channels.direct_key',
  'webhook_endpoints.previous_secret_expires_at',
];

const GENERATED = 'Computed by the database from other columns.';

const SECRET_NAME = /_key$|secret|token|hash|sealed|password|credential/;
const SECRET_TYPES = ['bytea', 'tsvector'];

const entryOf = (table: string, { name }: CatalogueColumn): readonly [string, string] => [
  `${table}.${name}`,
  `*.${name}`,
];

/** Why the export leaves the column out; undefined if it contains it. Throws if nobody has decided. */
export const reasonToLeaveOut = (
  { name }: CatalogueTable,
  column: CatalogueColumn,
): string | undefined => {
  const [own, anywhere] = entryOf(name, column);
  const reason = leftOutTables[name] ?? leftOutColumns[own] ?? leftOutColumns[anywhere];
  if (reason !== undefined) return reason;
  if (column.isGenerated) return GENERATED;
  const looksSecret = SECRET_NAME.test(column.name) || SECRET_TYPES.includes(column.type);
  if (!looksSecret || harmless.includes(own) || harmless.includes(anywhere)) return undefined;
  throw new Error(
    `${own} may be a secret. Decide in left-out.ts whether the export of a tenant contains it.`,
  );
};
