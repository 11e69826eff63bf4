import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { OrphanType } from './orphans.schema.ts';

const { empty, sql } = Prisma;

/** A private record and the users who can reach it. */
export interface PrivateRecord {
  readonly id: string;
  readonly name: string;
  readonly created_at: Date;
  readonly user_ids: readonly string[];
}

/** Users of one record are asked for up to this number; a record with more members is no orphan. */
export const MOST_MEMBERS = 500;

/** The live private records of a type, and the users who can reach them. Direct channels belong to their people. */
const selectOf = (type: OrphanType, tenantId: string): Prisma.Sql => {
  const tenant = sql`${tenantId}::uuid`;
  const users = (from: Prisma.Sql): Prisma.Sql =>
    sql`ARRAY(SELECT user_id FROM ${from} ORDER BY user_id LIMIT ${MOST_MEMBERS + 1}) AS user_ids`;
  if (type === 'projects') {
    return sql`SELECT id, name, created_at, ${users(sql`tenant_crm.project_members AS member
        WHERE member.tenant_id = ${tenant} AND member.project_id = record.id`)}
      FROM tenant_crm.projects AS record WHERE tenant_id = ${tenant} AND is_private`;
  }
  if (type === 'channels') {
    return sql`SELECT id, name, created_at, ${users(sql`tenant_crm.channel_participants AS member
        WHERE member.tenant_id = ${tenant} AND member.channel_id = record.id`)}
      FROM tenant_crm.channels AS record WHERE tenant_id = ${tenant} AND kind = 'private'`;
  }
  // Members of a folder above reach it as well.
  return sql`SELECT id, name, created_at, ${users(sql`tenant_crm.document_folder_members AS member
      WHERE member.tenant_id = ${tenant} AND member.folder_id = ANY(record.restricted_by)`)}
    FROM tenant_crm.document_folders AS record
    WHERE tenant_id = ${tenant} AND id = ANY(restricted_by)`;
};

/** The next private records of a type by id. */
export const nextPrivateRecords = (
  db: TenantDb,
  type: OrphanType,
  { after, limit }: { readonly after: string | undefined; readonly limit: number },
): Promise<PrivateRecord[]> =>
  db.query<PrivateRecord>(sql`
    ${selectOf(type, db.tenantId)} AND deleted_at IS NULL
      ${after === undefined ? empty : sql`AND id > ${after}::uuid`} ORDER BY id LIMIT ${limit}`);

/** One live private record, locked if asked for; undefined if there is none. */
export const findPrivateRecord = async (
  db: TenantDb,
  type: OrphanType,
  id: string,
  { locks = false }: { readonly locks?: boolean } = {},
): Promise<PrivateRecord | undefined> => {
  const [found] = await db.query<PrivateRecord>(sql`
    ${selectOf(type, db.tenantId)} AND deleted_at IS NULL AND id = ${id}::uuid
    ${locks ? sql`FOR NO KEY UPDATE OF record` : empty}`);
  return found;
};
