import type { TenantDb } from '../../database.ts';
import { longAgo, restorableSince } from '../../files/trash.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Actor } from '../../records/actor.ts';
import { recordChanges } from '../../records/record-changes.ts';
import { idsBelow, subtreeOf } from '../../records/trees.ts';

const { sql, raw } = Prisma;

/** The tables of what a folder contains. */
const CONTENTS = ['documents', 'document_folders'] as const;

/** A folder and all folders below it as `tree (id)`, deleted ones included, for WITH RECURSIVE. */
const subtree = (db: TenantDb, id: string): Prisma.Sql => subtreeOf(db, 'document_folders', id);

/** The folders on the way from the root to a folder, itself included, that have members. */
export const restrictionsOf = async (
  db: TenantDb,
  id: string | null,
): Promise<readonly string[]> => {
  if (id === null) return [];
  const [row] = await db.query<{ restricted_by: readonly string[] }>(sql`
    SELECT restricted_by FROM tenant_crm.document_folders
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${id}::uuid`);
  return row?.restricted_by ?? [];
};

/**
 * Sets who may see a folder and all folders below it, after a move or a change of members: `restricted_by` has the
 * folders on the way from the root that have members.
 */
export const spreadRestrictions = async (db: TenantDb, id: string): Promise<void> => {
  const tenant = sql`${db.tenantId}::uuid`;
  const own = sql`CASE WHEN EXISTS (
      SELECT FROM tenant_crm.document_folder_members AS member
      WHERE member.tenant_id = ${tenant} AND member.folder_id = folder.id
    ) THEN ARRAY[folder.id] ELSE '{}' END`;
  await db.query(sql`
    WITH RECURSIVE tree (id, restricted_by) AS (
      SELECT folder.id, coalesce(parent.restricted_by, '{}') || ${own}
      FROM tenant_crm.document_folders AS folder
      LEFT JOIN tenant_crm.document_folders AS parent
        ON parent.tenant_id = ${tenant} AND parent.id = folder.parent_id
      WHERE folder.tenant_id = ${tenant} AND folder.id = ${id}::uuid
      UNION ALL
      SELECT folder.id, tree.restricted_by || ${own}
      FROM tenant_crm.document_folders AS folder JOIN tree ON folder.parent_id = tree.id
      WHERE folder.tenant_id = ${tenant}
    )
    UPDATE tenant_crm.document_folders AS folder SET restricted_by = tree.restricted_by
    FROM tree WHERE folder.tenant_id = ${tenant} AND folder.id = tree.id
      AND folder.restricted_by <> tree.restricted_by`);
};

/**
 * Whether a folder, or one below it, is private and has nobody with write access, inherited or its own. Deleted folders
 * count as long as they can be restored: without a writer, nobody could restore them.
 */
export const lacksWriter = async (db: TenantDb, id: string): Promise<boolean> => {
  const tenant = sql`${db.tenantId}::uuid`;
  const found = await db.query(sql`
    WITH RECURSIVE ${subtree(db, id)}
    SELECT folder.id FROM tenant_crm.document_folders AS folder JOIN tree ON tree.id = folder.id
    WHERE folder.tenant_id = ${tenant} AND folder.restricted_by <> '{}'
      AND (folder.deleted_at IS NULL OR folder.deleted_at > ${restorableSince()})
      AND NOT EXISTS (
        SELECT FROM tenant_crm.document_folder_members AS member
        WHERE member.tenant_id = ${tenant} AND member.folder_id = ANY(folder.restricted_by)
          AND member.access = 'write'
      )
    LIMIT 1`);
  return found.length > 0;
};

const inFolder = { documents: raw('folder_id'), document_folders: raw('parent_id') } as const;

/** Whether a folder contains nothing that is not deleted. */
export const isEmpty = async (db: TenantDb, id: string): Promise<boolean> => {
  for (const table of CONTENTS) {
    const [found] = await db.query(sql`
      SELECT id FROM ${raw(`tenant_crm.${table}`)}
      WHERE tenant_id = ${db.tenantId}::uuid AND ${inFolder[table]} = ${id}::uuid
        AND deleted_at IS NULL LIMIT 1`);
    if (found) return false;
  }
  return true;
};

/** Changes what folders contain. */
interface ContentChange {
  readonly action: 'delete' | 'restore';
  readonly actor: Actor;
  /** The condition for the rows of a table. */
  of(table: (typeof CONTENTS)[number]): Prisma.Sql;
  /** The columns to set, beside those of every change. */
  readonly values: Prisma.Sql;
}

/**
 * Sets columns of documents and folders, with the history. Rows are locked in the order of their ids, as those that follow
 * the scan of a file are.
 */
const changeContents = async (
  db: TenantDb,
  now: Date,
  { action, actor, of, values }: ContentChange,
): Promise<void> => {
  for (const table of CONTENTS) {
    const recorded = recordChanges(db, { action, actor }, { table, from: sql`changed` });
    await db.query(sql`
      WITH locked AS MATERIALIZED (
        SELECT id FROM ${raw(`tenant_crm.${table}`)}
        WHERE tenant_id = ${db.tenantId}::uuid AND ${of(table)}
        ORDER BY id FOR NO KEY UPDATE
      ), changed AS (
        UPDATE ${raw(`tenant_crm.${table}`)}
        SET ${values}, version = version + 1, updated_at = ${now}
        WHERE tenant_id = ${db.tenantId}::uuid AND id = ANY(ARRAY(SELECT id FROM locked))
        RETURNING id, version
      ), recorded AS (${recorded})
      SELECT count(*)::int FROM changed`);
  }
};

/** Deletes everything below a folder, so that restoring the folder restores it as well. */
export const deleteContents = async (db: TenantDb, id: string, actor: Actor): Promise<void> => {
  const now = new Date();
  // The lock of the tree keeps it as it is. Citus cannot plan a recursion in a statement that changes rows.
  const folders = await idsBelow(db, 'document_folders', id);
  await changeContents(db, now, {
    action: 'delete',
    actor,
    of: (table) => sql`deleted_at IS NULL AND id <> ${id}::uuid
      AND ${inFolder[table]} = ANY(${folders}::uuid[])`,
    values: sql`deleted_at = ${now}, deleted_with = ${id}::uuid`,
  });
};

/** Restores what was deleted together with a folder. */
export const restoreContents = (db: TenantDb, id: string, actor: Actor): Promise<void> =>
  changeContents(db, new Date(), {
    action: 'restore',
    actor,
    of: () => sql`deleted_with = ${id}::uuid`,
    values: sql`deleted_at = NULL, deleted_with = NULL`,
  });

/** What is in these folders, the folders themselves included. */
const inFolders = { documents: raw('folder_id'), document_folders: raw('id') } as const;

/**
 * Makes the deletion of a folder, and of everything in it, so old that nobody restores it any more. What was deleted before
 * the folder belongs to it from now on: it could only be restored into the folder. The history shows who has decided that,
 * as a second deletion.
 */
export const expireTree = async (db: TenantDb, id: string, actor: Actor): Promise<void> => {
  const folders = await idsBelow(db, 'document_folders', id);
  await changeContents(db, new Date(), {
    action: 'delete',
    actor,
    of: (table) => sql`deleted_at IS NOT NULL AND ${inFolders[table]} = ANY(${folders}::uuid[])`,
    values: sql`deleted_at = ${longAgo()}, deleted_with = nullif(${id}::uuid, id)`,
  });
};
