import type { CatalogueTable } from '@tessera/database-kit';

/** Columns with the id of a user, or a list of them; in every table that has such a column. */
export const userColumns: readonly string[] = [
  'assignee_ids',
  'author_id',
  'author_ids',
  'created_by',
  'creator_id',
  'mentions',
  'moderated_by',
  'owner_id',
  'pinned_by',
  'reviewed_by',
  'user_id',
];

/** Columns of the type uuid without a foreign key that contain no users. */
export const otherIds: readonly string[] = [
  'article_id',
  'bot_id',
  'channel_id',
  'content_id',
  'cover_document_id',
  'deleted_with',
  'document_id',
  'event_id',
  'file_content_id',
  'id',
  'import_id',
  'object_id',
  'record_id',
  'resource_id',
  'restricted_by',
  'result_id',
  'schedule_id',
  'scope_id',
  'tenant_id',
  'thread_id',
  'translation_group',
];

/** Texts with the id of the administrator who acted as a user. */
export const IMPERSONATOR = 'impersonator_id';

/** The condition of the rows of a table that name a user, which is $1; undefined if no column can. */
export const namesUser = ({ columns }: CatalogueTable): string | undefined => {
  const conditions = columns.flatMap(({ name, type, isGenerated }) => {
    if (isGenerated) return [];
    if (name === IMPERSONATOR) return [`${name} = $1::text`];
    if (!userColumns.includes(name)) return [];
    return [type === 'uuid[]' ? `${name} @> ARRAY[$1::uuid]` : `${name} = $1::uuid`];
  });
  return conditions.length > 0 ? `(${conditions.join(' OR ')})` : undefined;
};
