import type { StoredFile } from '@tessera/file-store';
import { v7 as uuidv7 } from 'uuid';
import type { TenantDb } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';
import type { ScanStatus } from './scan-status.ts';

const { sql } = Prisma;

/** A stored content, as it is needed to read it. */
export interface Content {
  readonly id: string;
  readonly object_id: string;
  readonly size: number;
  readonly sealed_key: Buffer | null;
  readonly scan_status: ScanStatus;
}

/** A content that was removed. */
export interface RemovedContent extends Content {
  /** The content that was its thumbnail. */
  readonly thumbnail_id: string | null;
}

/** A content after a reference was added to it. */
export interface Referred {
  readonly id: string;
  /** The object that has the bytes. */
  readonly object_id: string;
  /** Whether this is the first reference. */
  readonly is_new: boolean;
}

/** A stored object with the media type of its content. */
export interface NewObject extends StoredFile {
  readonly id: string;
  readonly type: string;
  /** The object of the same bytes that this one replaces; null if there is none. */
  readonly replaces: string | null;
}

/** The condition of a content, or of a pending file, by its id. */
export const oneFile = (db: TenantDb, id: string): Prisma.Sql =>
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
    VALUES (${db.tenantId}::uuid, ${id}::uuid, true, ${new Date()})
    ON CONFLICT DO NOTHING`);
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

/** Adds a reference to the content with these bytes, which is created with the object if there is none. */
export const addContent = async (db: TenantDb, object: NewObject): Promise<Referred> => {
  const { id, sha256, size, type, sealedKey, replaces } = object;
  const [row] = await db.query<Referred>(sql`
    INSERT INTO tenant_crm.file_contents AS content
      (tenant_id, id, object_id, sha256, size, type, sealed_key, reference_count)
    VALUES (${db.tenantId}::uuid, ${uuidv7()}::uuid, ${id}::uuid, ${sha256}, ${size}::bigint, ${type},
      ${sealedKey}::bytea, 1)
    ON CONFLICT (tenant_id, sha256) DO UPDATE SET
      reference_count = content.reference_count + 1,
      object_id = CASE WHEN content.object_id = ${replaces}::uuid THEN excluded.object_id ELSE content.object_id END,
      sealed_key = CASE WHEN content.object_id = ${replaces}::uuid THEN excluded.sealed_key ELSE content.sealed_key END,
      missing_since = CASE WHEN content.object_id = ${replaces}::uuid THEN NULL ELSE content.missing_since END
    RETURNING id, object_id, reference_count = 1 AS is_new`);
  if (!row) throw new Error('The content was not stored.');
  return row;
};

/** The content with these bytes; undefined if there is none. `is_missing`: its object is known to be missing or damaged. */
export const findContentOf = async (
  db: TenantDb,
  sha256: string,
): Promise<(Content & { readonly is_missing: boolean }) | undefined> => {
  const [row] = await db.query<Content & { readonly is_missing: boolean }>(sql`
    SELECT id, object_id, size, sealed_key, scan_status, missing_since IS NOT NULL AS is_missing
    FROM tenant_crm.file_contents
    WHERE tenant_id = ${db.tenantId}::uuid AND sha256 = ${sha256}`);
  return row;
};

/** Adds a reference to a content that has one already; returns the size of the content. */
export const addReference = async (db: TenantDb, id: string): Promise<number> => {
  const [row] = await db.query<{ size: number }>(sql`
    UPDATE tenant_crm.file_contents SET reference_count = reference_count + 1
    WHERE ${oneFile(db, id)} RETURNING size`);
  return row?.size ?? 0;
};

/** References that were removed. */
export interface RemovedReferences {
  /** The size of the content of each reference, in total. */
  readonly bytes: number;
  /** The contents without any reference, which are removed as well. */
  readonly removed: readonly RemovedContent[];
}

/**
 * Locks contents and their thumbnails before their references are removed, in the order of ids: the content of a
 * document may be the thumbnail of another one, so transactions that lock them as they need them could deadlock.
 */
export const lockContents = async (db: TenantDb, ids: readonly string[]): Promise<void> => {
  await db.query(sql`
    SELECT id FROM tenant_crm.file_contents
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ANY(${ids}::uuid[] || ARRAY(
      SELECT thumbnail_id FROM tenant_crm.file_contents
      WHERE tenant_id = ${db.tenantId}::uuid AND id = ANY(${ids}::uuid[]) AND thumbnail_id IS NOT NULL
    )) ORDER BY id FOR UPDATE`);
};

/** Removes references to contents that are locked. */
export const removeReferences = async (
  db: TenantDb,
  ids: readonly string[],
): Promise<RemovedReferences> => {
  const [counted] = await db.query<{ bytes: number }>(sql`
    WITH changed AS (
      UPDATE tenant_crm.file_contents AS content SET reference_count = reference_count - gone.count
      FROM (SELECT id, count(*)::int AS count FROM unnest(${ids}::uuid[]) AS id GROUP BY id) AS gone
      WHERE content.tenant_id = ${db.tenantId}::uuid AND content.id = gone.id
      RETURNING content.size * gone.count AS bytes
    )
    SELECT coalesce(sum(bytes), 0)::bigint AS bytes FROM changed`);
  const removed = await db.query<RemovedContent>(sql`
    DELETE FROM tenant_crm.file_contents
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ANY(${ids}::uuid[]) AND reference_count = 0
    RETURNING id, object_id, size, sealed_key, scan_status, thumbnail_id`);
  return { bytes: counted?.bytes ?? 0, removed };
};

/** The content; undefined if there is none. */
export const findContent = async (db: TenantDb, id: string): Promise<Content | undefined> => {
  const [row] = await db.query<Content>(sql`
    SELECT id, object_id, size, sealed_key, scan_status FROM tenant_crm.file_contents
    WHERE ${oneFile(db, id)}`);
  return row;
};

/** A thumbnail as it is served. */
export interface Thumbnail {
  readonly id: string;
  readonly size: number;
  readonly sha256: string;
}

/** The thumbnail of a content; undefined if it has none. */
export const findThumbnail = async (
  db: TenantDb,
  contentId: string,
): Promise<Thumbnail | undefined> => {
  const [row] = await db.query<Thumbnail>(sql`
    SELECT id, size, sha256 FROM tenant_crm.file_contents
    WHERE tenant_id = ${db.tenantId}::uuid AND id = (
      SELECT thumbnail_id FROM tenant_crm.file_contents WHERE ${oneFile(db, contentId)})`);
  return row;
};

/** An image that has a thumbnail. */
export interface ImageContent extends Pick<Content, 'id' | 'object_id' | 'size' | 'sealed_key'> {
  /** The media type. */
  readonly type: string;
}

/** The images that have a content as their thumbnail. */
export const imagesWithThumbnail = (
  db: TenantDb,
  thumbnailId: string,
): Promise<readonly ImageContent[]> =>
  db.query<ImageContent>(sql`
    SELECT id, object_id, size, sealed_key, type FROM tenant_crm.file_contents
    WHERE tenant_id = ${db.tenantId}::uuid AND thumbnail_id = ${thumbnailId}::uuid ORDER BY id`);

/** Ends the reference of an image to its thumbnail, which is released next; false if it has another one by now. */
export const clearThumbnail = async (
  db: TenantDb,
  id: string,
  thumbnailId: string,
): Promise<boolean> => {
  const rows = await db.query(sql`
    UPDATE tenant_crm.file_contents SET thumbnail_id = NULL
    WHERE ${oneFile(db, id)} AND thumbnail_id = ${thumbnailId}::uuid RETURNING id`);
  return rows.length > 0;
};
