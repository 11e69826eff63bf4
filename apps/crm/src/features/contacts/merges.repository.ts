import { v7 as uuidv7 } from 'uuid';
import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { type Cause, recordChanges } from '../../records/record-changes.ts';
import type { MergedColumns } from './merges.rules.ts';

const { sql, raw, join } = Prisma;

/** The tables whose records refer to a contact by `contact_id`; a test holds them against the foreign keys. */
export const linkingTables = ['communication_logs', 'tasks'] as const;

export type LinkingTable = (typeof linkingTables)[number];

/** Table -> the ids of the records that a merge moved. */
export type MovedLinks = Readonly<Partial<Record<LinkingTable, string[]>>>;

/** A merge that has not been undone. */
export interface ContactMerge {
  readonly id: string;
  readonly survivor_id: string;
  readonly is_survivor_live: boolean;
  readonly merged_at: Date;
  readonly moved: MovedLinks;
  /**
   * What the survivor took: fields that were empty, and items that lists did not have, or had only because of earlier
   * merges.
   */
  readonly taken: MergedColumns;
}

/** Locks contacts in the order of their ids, as batches do. */
export const lockContacts = async (db: TenantDb, ids: readonly string[]): Promise<void> => {
  await db.query(sql`
    SELECT id FROM tenant_crm.contacts WHERE tenant_id = ${db.tenantId}::uuid AND id = ANY(${ids}::uuid[])
    ORDER BY id FOR UPDATE`);
};

/** The merge of a contact into another one that has not been undone. */
export const findMerge = async (
  db: TenantDb,
  mergedId: string,
): Promise<ContactMerge | undefined> => {
  const [merge] = await db.query<ContactMerge>(sql`
    SELECT id, survivor_id, merged_at, moved, taken, EXISTS (
      SELECT FROM tenant_crm.contacts
      WHERE tenant_id = ${db.tenantId}::uuid AND id = survivor_id AND deleted_at IS NULL
    ) AS is_survivor_live
    FROM tenant_crm.contact_merges
    WHERE tenant_id = ${db.tenantId}::uuid AND merged_id = ${mergedId}::uuid AND undone_at IS NULL`);
  return merge;
};

/** What a contact took in each merge that has not been undone. */
export const takenInMerges = async (
  db: TenantDb,
  survivorId: string,
): Promise<readonly Pick<ContactMerge, 'id' | 'taken'>[]> =>
  db.query(sql`
    SELECT id, taken FROM tenant_crm.contact_merges
    WHERE tenant_id = ${db.tenantId}::uuid AND survivor_id = ${survivorId}::uuid AND undone_at IS NULL
    ORDER BY merged_at, id`);

/** Replaces what was taken in a merge. */
export const saveTaken = async (db: TenantDb, id: string, taken: MergedColumns): Promise<void> => {
  await db.query(sql`
    UPDATE tenant_crm.contact_merges SET taken = ${JSON.stringify(taken)}::jsonb
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${id}::uuid`);
};

/** Replaces the tags that were taken in a merge. */
export const saveTakenTags = async (
  db: TenantDb,
  id: string,
  tags: readonly string[],
): Promise<void> => {
  await db.query(sql`
    UPDATE tenant_crm.contact_merges SET taken = jsonb_set(taken, '{tags}', ${JSON.stringify(tags)}::jsonb)
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${id}::uuid`);
};

export const insertMerge = async (
  db: TenantDb,
  {
    survivorId,
    mergedId,
    moved,
    taken,
  }: {
    readonly survivorId: string;
    readonly mergedId: string;
    readonly moved: MovedLinks;
    readonly taken: MergedColumns;
  },
): Promise<void> => {
  await db.query(sql`
    INSERT INTO tenant_crm.contact_merges (tenant_id, id, survivor_id, merged_id, merged_at, moved, taken)
    VALUES (${db.tenantId}::uuid, ${uuidv7()}::uuid, ${survivorId}::uuid, ${mergedId}::uuid, ${new Date()},
      ${JSON.stringify(moved)}::jsonb, ${JSON.stringify(taken)}::jsonb)`);
};

export const markUndone = async (db: TenantDb, id: string): Promise<void> => {
  await db.query(sql`
    UPDATE tenant_crm.contact_merges SET undone_at = ${new Date()}
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${id}::uuid`);
};

/** Whether more than `limit` records that are not deleted refer to a contact. */
export const hasMoreLinks = async (
  db: TenantDb,
  contactId: string,
  limit: number,
): Promise<boolean> => {
  const links = linkingTables.map(
    (table) => sql`(
      SELECT id FROM ${raw(`tenant_crm.${table}`)}
      WHERE tenant_id = ${db.tenantId}::uuid AND contact_id = ${contactId}::uuid AND deleted_at IS NULL
      LIMIT ${limit + 1})`,
  );
  const [counted] = await db.query<{ count: number }>(
    sql`SELECT count(*)::int AS count FROM (${join(links, ' UNION ALL ')}) AS links`,
  );
  return (counted?.count ?? 0) > limit;
};

/** Which of the records that refer to a contact. */
const linksOf = (db: TenantDb, contactId: string, ids?: readonly string[]): Prisma.Sql => {
  const which = ids ? sql`id = ANY(${ids}::uuid[])` : sql`deleted_at IS NULL`;
  return sql`tenant_id = ${db.tenantId}::uuid AND contact_id = ${contactId}::uuid AND ${which}`;
};

/**
 * Locks the records that refer to a contact, those that are not deleted or only those of `links`, in the order of their
 * ids. Must precede `lockContacts`: a change of a record locks the record first, and then its new contact.
 */
export const lockLinks = async (
  db: TenantDb,
  contactId: string,
  links?: MovedLinks,
): Promise<void> => {
  for (const table of linkingTables) {
    const ids = links && (links[table] ?? []);
    await db.query(sql`
      SELECT id FROM ${raw(`tenant_crm.${table}`)} WHERE ${linksOf(db, contactId, ids)}
      ORDER BY id FOR NO KEY UPDATE`);
  }
};

/** A move of the records that refer to one contact to another one. */
interface LinkMove {
  readonly table: LinkingTable;
  readonly from: string;
  readonly to: string;
  /** Only these records. Default: all that are not deleted. */
  readonly ids?: readonly string[] | undefined;
}

/**
 * Moves records, each with a new version and an entry in its history; returns their ids. They are locked in the order
 * of their ids, as in batches.
 */
export const moveLinks = async (
  db: TenantDb,
  { table, from, to, ids }: LinkMove,
  { actor }: Pick<Cause, 'actor'>,
): Promise<string[]> => {
  // For the records it is an update of their contact, with its event; only contacts are merged.
  const recorded = recordChanges(
    db,
    { action: 'update', actor },
    {
      table,
      from: sql`changed`,
      changes: sql`jsonb_build_object('contact_id', jsonb_build_array(${from}::text, ${to}::text))`,
    },
  );
  const links = raw(`tenant_crm.${table}`);
  const rows = await db.query<{ id: string }>(sql`
    WITH locked AS MATERIALIZED (
      SELECT id FROM ${links}
      WHERE ${linksOf(db, from, ids)}
      ORDER BY id FOR NO KEY UPDATE
    ), changed AS (
      UPDATE ${links}
      SET contact_id = ${to}::uuid, version = version + 1, updated_at = ${new Date()}
      WHERE tenant_id = ${db.tenantId}::uuid AND id = ANY(ARRAY(SELECT id FROM locked))
      RETURNING id, version
    ), recorded AS (${recorded})
    SELECT id FROM changed`);
  return rows.map(({ id }) => id);
};

/** Whether a company is not deleted. */
export const isLiveCompany = async (db: TenantDb, id: string): Promise<boolean> => {
  const rows = await db.query(sql`
    SELECT id FROM tenant_crm.companies
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${id}::uuid AND deleted_at IS NULL`);
  return rows.length > 0;
};
