import type { StoredFile } from '@tessera/file-store';
import type { TenantDb } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';

const { sql } = Prisma;

/** A stored content, as it is needed to read it. */
export interface Content {
  readonly id: string;
  readonly size: number;
  readonly sealed_key: Buffer | null;
}

const oneFile = (db: TenantDb, id: string): Prisma.Sql =>
  sql`tenant_id = ${db.tenantId}::uuid AND id = ${id}::uuid`;

/** Notes that an object is about to be written. */
export const insertPending = async (db: TenantDb, id: string, expiresAt: Date): Promise<void> => {
  await db.query(sql`
    INSERT INTO tenant_crm.pending_files (tenant_id, id, expires_at)
    VALUES (${db.tenantId}::uuid, ${id}::uuid, ${expiresAt})`);
};

/** Notes that an object is to be deleted. */
export const insertAbandoned = async (db: TenantDb, id: string): Promise<void> => {
  await db.query(sql`
    INSERT INTO tenant_crm.pending_files (tenant_id, id, abandoned, expires_at)
    VALUES (${db.tenantId}::uuid, ${id}::uuid, true, ${new Date()})`);
};

/** Notes that a pending object is to be deleted; false if it is not pending. */
export const markAbandoned = async (db: TenantDb, id: string): Promise<boolean> => {
  const rows = await db.query(sql`
    UPDATE tenant_crm.pending_files SET abandoned = true WHERE ${oneFile(db, id)} RETURNING id`);
  return rows.length > 0;
};

/**
 * Notes that an object is to be deleted unless somebody refers to it by now or still uploads it; returns whether
 * it is. From then on nobody can refer to it.
 */
export const abandonPending = async (db: TenantDb, id: string): Promise<boolean> => {
  const rows = await db.query(sql`
    UPDATE tenant_crm.pending_files SET abandoned = true
    WHERE ${oneFile(db, id)} AND (abandoned OR expires_at <= now()) RETURNING id`);
  return rows.length > 0;
};

/** Notes that an object is no longer pending; false if it has been given up meanwhile. */
export const takePending = async (db: TenantDb, id: string): Promise<boolean> => {
  const rows = await db.query(sql`
    DELETE FROM tenant_crm.pending_files WHERE ${oneFile(db, id)} AND NOT abandoned RETURNING id`);
  return rows.length > 0;
};

/** Forgets an object that was deleted. */
export const deletePending = async (db: TenantDb, id: string): Promise<void> => {
  await db.query(sql`DELETE FROM tenant_crm.pending_files WHERE ${oneFile(db, id)}`);
};

/** Adds a reference to the content with these bytes, which is the given one if the tenant has no other. */
export const addContent = async (db: TenantDb, id: string, file: StoredFile): Promise<string> => {
  const [row] = await db.query<{ id: string }>(sql`
    INSERT INTO tenant_crm.file_contents AS content (tenant_id, id, sha256, size, sealed_key, reference_count)
    VALUES (${db.tenantId}::uuid, ${id}::uuid, ${file.sha256}, ${file.size}::bigint, ${file.sealedKey}::bytea, 1)
    ON CONFLICT (tenant_id, sha256) DO UPDATE SET reference_count = content.reference_count + 1
    RETURNING id`);
  return row?.id ?? id;
};

/** Adds a reference to a content that has one already. */
export const addReference = async (db: TenantDb, id: string): Promise<void> => {
  await db.query(sql`
    UPDATE tenant_crm.file_contents SET reference_count = reference_count + 1 WHERE ${oneFile(db, id)}`);
};

/** Removes references; returns the contents without any, which are removed as well. */
export const removeReferences = async (
  db: TenantDb,
  ids: readonly string[],
): Promise<readonly Content[]> => {
  await db.query(sql`
    UPDATE tenant_crm.file_contents AS content SET reference_count = reference_count - gone.count
    FROM (
      SELECT id, count(*)::int AS count FROM unnest(${ids}::uuid[]) AS id GROUP BY id ORDER BY id
    ) AS gone
    WHERE content.tenant_id = ${db.tenantId}::uuid AND content.id = gone.id`);
  return db.query<Content>(sql`
    DELETE FROM tenant_crm.file_contents
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ANY(${ids}::uuid[]) AND reference_count = 0
    RETURNING id, size, sealed_key`);
};

/** The content; undefined if there is none. */
export const findContent = async (db: TenantDb, id: string): Promise<Content | undefined> => {
  const [row] = await db.query<Content>(sql`
    SELECT id, size, sealed_key FROM tenant_crm.file_contents WHERE ${oneFile(db, id)}`);
  return row;
};
