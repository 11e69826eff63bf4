import type { TenantDb } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { oneFile } from './files.repository.ts';

const { sql } = Prisma;

/** What the job that reads a content needs to know about it. */
interface ReadableContent {
  readonly type: string | null;
  readonly size: number;
}

/** The content; undefined if it has been deleted, or is a thumbnail itself. */
export const findReadable = async (
  db: TenantDb,
  id: string,
): Promise<ReadableContent | undefined> => {
  const [row] = await db.query<ReadableContent>(sql`
    SELECT type, size FROM tenant_crm.file_contents AS content
    WHERE ${oneFile(db, id)} AND NOT EXISTS (
      SELECT FROM tenant_crm.file_contents AS image
      WHERE image.tenant_id = ${db.tenantId}::uuid AND image.thumbnail_id = content.id
    )`);
  return row;
};

/** Stores the words of a content, folded as searches fold. */
export const saveWords = async (
  db: TenantDb,
  id: string,
  words: readonly string[],
): Promise<void> => {
  await db.query(sql`
    UPDATE tenant_crm.file_contents SET words = tenant_crm.word_vector(${words}::text[])
    WHERE ${oneFile(db, id)}`);
};

/**
 * Locks a content that is to get a thumbnail, and the content that has the bytes of the thumbnail already, in the order
 * of `lockContents`; false if the content has been deleted, or has a thumbnail.
 */
export const lockForThumbnail = async (
  db: TenantDb,
  id: string,
  thumbnailSha256: string,
): Promise<boolean> => {
  const rows = await db.query<{ id: string; thumbnail_id: string | null }>(sql`
    SELECT id, thumbnail_id FROM tenant_crm.file_contents
    WHERE tenant_id = ${db.tenantId}::uuid AND (id = ${id}::uuid OR sha256 = ${thumbnailSha256})
    ORDER BY id FOR NO KEY UPDATE`);
  return rows.some((row) => row.id === id && row.thumbnail_id === null);
};

/** Makes a content the thumbnail of another one; false if they are the same, or that one has a thumbnail. */
export const saveThumbnail = async (
  db: TenantDb,
  id: string,
  thumbnailId: string,
): Promise<boolean> => {
  const rows = await db.query(sql`
    UPDATE tenant_crm.file_contents SET thumbnail_id = ${thumbnailId}::uuid
    WHERE ${oneFile(db, id)} AND id <> ${thumbnailId}::uuid AND thumbnail_id IS NULL
    RETURNING id`);
  return rows.length > 0;
};
