import type { TenantDb } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { lockUntilEnd } from '../records/transaction-lock.ts';
import type { ContentTable } from './content-types.ts';

const { sql, raw } = Prisma;

/** The translation group of a live record; undefined if there is no such record. */
export const groupOf = async (
  db: TenantDb,
  table: ContentTable,
  id: string,
): Promise<string | undefined> => {
  const [row] = await db.query<{ translation_group: string }>(sql`
    SELECT translation_group FROM ${raw(`tenant_crm.${table}`)}
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${id}::uuid AND deleted_at IS NULL
    FOR KEY SHARE`);
  return row?.translation_group;
};

/**
 * Until the transaction ends, no other one adds or restores a translation of the group, or changes the language of one.
 * Taken after the rows that are changed, and before the slug.
 */
export const lockTranslations = (db: TenantDb, table: ContentTable, group: string): Promise<void> =>
  lockUntilEnd(db, `translations ${table} ${db.tenantId} ${group}`);

/** Whether another live record of the group has the language. */
export const isTranslated = async (
  db: TenantDb,
  table: ContentTable,
  { translation_group: group, language }: { translation_group: string; language: string },
): Promise<boolean> => {
  const rows = await db.query(sql`
    SELECT id FROM ${raw(`tenant_crm.${table}`)}
    WHERE tenant_id = ${db.tenantId}::uuid AND translation_group = ${group}::uuid
      AND language = ${language} AND deleted_at IS NULL`);
  return rows.length > 0;
};
