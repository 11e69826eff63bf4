import type { FileContent } from '@tessera/file-store';
import type { TenantDb } from '../../../database.ts';
import { Prisma } from '../../../generated/prisma/client.ts';

const { sql } = Prisma;

/** The metadata of an upload as the client sent it: null for a name without a value. */
export type UploadMetadata = Readonly<Record<string, string | null>>;

/** An upload that is stored. */
export interface StoredUploadState {
  readonly id: string;
  /** The document that gets a version; null for a new document. */
  readonly document_id: string | null;
  readonly metadata: UploadMetadata;
  /** Bytes; null while they are not known. */
  readonly size: number | null;
  readonly received: number;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly ended_at: Date | null;
  /** The document that the finished upload has created or changed. */
  readonly result_id: string | null;
}

/** Bytes of an upload, in an object of their own. */
export type UploadPart = Pick<FileContent, 'id' | 'size' | 'sealedKey'>;

const oneUpload = (db: TenantDb, id: string): Prisma.Sql =>
  sql`tenant_id = ${db.tenantId}::uuid AND id = ${id}::uuid`;

/** Whether bytes can be added: the upload has neither ended nor expired. */
const isOpen = sql`ended_at IS NULL AND expires_at > now()`;

/** Adds an upload without any bytes. */
export const insertUpload = async (
  db: TenantDb,
  upload: Pick<StoredUploadState, 'id' | 'document_id' | 'metadata' | 'size' | 'expires_at'>,
  owner: string,
): Promise<void> => {
  await db.query(sql`
    INSERT INTO tenant_crm.uploads (tenant_id, id, owner, document_id, metadata, size, expires_at)
    VALUES (${db.tenantId}::uuid, ${upload.id}::uuid, ${owner}, ${upload.document_id}::uuid,
      ${JSON.stringify(upload.metadata)}::jsonb, ${upload.size}::bigint, ${upload.expires_at})`);
};

/** How many uploads are neither finished nor expired: those of an owner, and those of the tenant up to `limit`. */
export const countUnfinished = async (
  db: TenantDb,
  owner: string,
  limit: number,
): Promise<{ readonly own: number; readonly all: number }> => {
  const [row] = await db.query<{ own: number; all: number }>(sql`
    SELECT (count(*) FILTER (WHERE owner = ${owner}))::int AS own, count(*)::int AS all
    FROM (
      SELECT owner FROM tenant_crm.uploads
      WHERE tenant_id = ${db.tenantId}::uuid AND ${isOpen} LIMIT ${limit}
    ) AS unfinished`);
  return row ?? { own: 0, all: 0 };
};

/** An upload of the owner, which may have expired; undefined if there is none, or if it was cancelled. */
export const findUpload = async (
  db: TenantDb,
  id: string,
  owner: string,
): Promise<StoredUploadState | undefined> => {
  const [row] = await db.query<StoredUploadState>(sql`
    SELECT id, document_id, metadata, size, received, created_at, expires_at, ended_at, result_id
    FROM tenant_crm.uploads
    WHERE ${oneUpload(db, id)} AND owner = ${owner} AND (ended_at IS NULL OR result_id IS NOT NULL)`);
  return row;
};

/** Sets the size; false if another size is known, more bytes have arrived, or the upload has ended or expired. */
export const setSize = async (db: TenantDb, id: string, size: number): Promise<boolean> => {
  const rows = await db.query(sql`
    UPDATE tenant_crm.uploads SET size = ${size}::bigint
    WHERE ${oneUpload(db, id)} AND ${isOpen} AND (size IS NULL OR size = ${size}::bigint)
      AND received <= ${size}::bigint
    RETURNING id`);
  return rows.length > 0;
};

/**
 * Adds a part to the end of an upload; false if the upload has ended, does not have exactly `start` bytes, or would have
 * more bytes than its size.
 */
export const appendPart = async (
  db: TenantDb,
  { uploadId, start, part }: { uploadId: string; start: number; part: UploadPart },
): Promise<boolean> => {
  const rows = await db.query(sql`
    UPDATE tenant_crm.uploads SET received = received + ${part.size}::bigint
    WHERE ${oneUpload(db, uploadId)} AND ${isOpen} AND received = ${start}::bigint
      AND (size IS NULL OR received + ${part.size}::bigint <= size)
    RETURNING id`);
  if (rows.length === 0) return false;
  await db.query(sql`
    INSERT INTO tenant_crm.upload_parts (tenant_id, id, upload_id, start, size, sealed_key)
    VALUES (${db.tenantId}::uuid, ${part.id}::uuid, ${uploadId}::uuid, ${start}::bigint,
      ${part.size}::bigint, ${part.sealedKey}::bytea)`);
  return true;
};

/** Ends an upload whose last bytes begin at `start`; false if it has ended or does not have exactly `start` bytes. */
export const endUpload = async (
  db: TenantDb,
  { id, start, size }: { id: string; start: number; size: number },
): Promise<boolean> => {
  const rows = await db.query(sql`
    UPDATE tenant_crm.uploads SET received = ${size}::bigint, size = ${size}::bigint, ended_at = now()
    WHERE ${oneUpload(db, id)} AND ${isOpen} AND received = ${start}::bigint RETURNING id`);
  return rows.length > 0;
};

/** Stores which document an upload created or changed. */
export const setResult = async (db: TenantDb, id: string, documentId: string): Promise<void> => {
  await db.query(sql`
    UPDATE tenant_crm.uploads SET result_id = ${documentId}::uuid WHERE ${oneUpload(db, id)}`);
};

/**
 * Cancels an upload that has not ended, with `ifExpired` only an expired one. Returns how many bytes it had; undefined
 * if nothing was cancelled.
 */
export const abandonUpload = async (
  db: TenantDb,
  id: string,
  { ifExpired }: { readonly ifExpired: boolean },
): Promise<number | undefined> => {
  const [row] = await db.query<{ received: number }>(sql`
    UPDATE tenant_crm.uploads SET ended_at = now()
    WHERE ${oneUpload(db, id)} AND ended_at IS NULL AND (NOT ${ifExpired} OR expires_at <= now())
    RETURNING received`);
  return row?.received;
};

/** Whether an upload has ended, so that its parts can be deleted. */
export const hasEnded = async (db: TenantDb, id: string): Promise<boolean> => {
  const rows = await db.query(sql`
    SELECT id FROM tenant_crm.uploads WHERE ${oneUpload(db, id)} AND ended_at IS NOT NULL`);
  return rows.length > 0;
};

/** The next parts of an upload, from a position on. */
export const partsFrom = (
  db: TenantDb,
  uploadId: string,
  start: number,
  limit: number,
): Promise<readonly UploadPart[]> =>
  db.query<UploadPart>(sql`
    SELECT id, size, sealed_key AS "sealedKey" FROM tenant_crm.upload_parts
    WHERE tenant_id = ${db.tenantId}::uuid AND upload_id = ${uploadId}::uuid AND start >= ${start}::bigint
    ORDER BY start LIMIT ${limit}`);

/** Deletes the rows of parts whose objects were deleted. */
export const deleteParts = async (db: TenantDb, ids: readonly string[]): Promise<void> => {
  await db.query(sql`
    DELETE FROM tenant_crm.upload_parts
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ANY(${ids}::uuid[])`);
};

/** Deletes an upload without parts that was cancelled, or that has a result and has expired. */
export const deleteUpload = async (db: TenantDb, id: string): Promise<void> => {
  await db.query(sql`
    DELETE FROM tenant_crm.uploads
    WHERE ${oneUpload(db, id)} AND ended_at IS NOT NULL AND (result_id IS NULL OR expires_at <= now())`);
};
