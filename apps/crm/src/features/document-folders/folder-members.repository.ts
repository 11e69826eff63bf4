import { v7 as uuidv7 } from 'uuid';
import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { type Cause, recordChanges } from '../../records/record-changes.ts';

const { sql } = Prisma;

/** Who has access to a folder. */
export interface Membership {
  /** How many members the folder itself has. */
  readonly members: number;
  /** Whether a folder above has members. */
  readonly isInherited: boolean;
}

/** Who has access to a folder; `restricted_by` of folders above must be up to date. */
export const membershipOf = async (db: TenantDb, folderId: string): Promise<Membership> => {
  const [found] = await db.query<Membership>(sql`
    SELECT count(member.id)::int AS members, EXISTS (
        SELECT FROM tenant_crm.document_folders AS folder
        WHERE folder.tenant_id = ${db.tenantId}::uuid AND folder.id = ${folderId}::uuid
          AND array_remove(folder.restricted_by, folder.id) <> '{}'
      ) AS "isInherited"
    FROM tenant_crm.document_folder_members AS member
    WHERE member.tenant_id = ${db.tenantId}::uuid AND member.folder_id = ${folderId}::uuid`);
  return found ?? { members: 0, isInherited: false };
};

/** Adds a member who may write. */
export const addWriter = async (
  db: TenantDb,
  cause: Cause,
  { folderId, userId }: { readonly folderId: string; readonly userId: string },
): Promise<void> => {
  await db.query(sql`
    WITH added AS (
      INSERT INTO tenant_crm.document_folder_members (tenant_id, id, folder_id, user_id, access)
      VALUES (${db.tenantId}::uuid, ${uuidv7()}::uuid, ${folderId}::uuid, ${userId}::uuid, 'write')
      RETURNING id, version
    )
    ${recordChanges(db, cause, { table: 'document_folder_members', from: sql`added` })}`);
};
