import { v7 as uuidv7 } from 'uuid';
import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';

const { sql } = Prisma;

/** A document as its new version sees it. */
export interface NewVersion {
  readonly id: string;
  readonly current_version: number;
  readonly content_id: string;
  readonly size: number;
  readonly type: string;
  readonly sha256: string;
}

/** Adds the current version of a document. */
export const insertVersion = async (
  db: TenantDb,
  row: NewVersion,
  userId: string | null,
): Promise<void> => {
  await db.query(sql`
    INSERT INTO tenant_crm.document_versions
      (tenant_id, id, document_id, number, content_id, size, type, sha256, user_id)
    VALUES (${db.tenantId}::uuid, ${uuidv7()}::uuid, ${row.id}::uuid, ${row.current_version},
      ${row.content_id}::uuid, ${row.size}::bigint, ${row.type}, ${row.sha256}, ${userId}::uuid)`);
};

type StoredVersion = Omit<NewVersion, 'id' | 'current_version'>;

/** One version of a document; undefined if there is none. */
export const findVersion = async (
  db: TenantDb,
  documentId: string,
  number: number,
): Promise<StoredVersion | undefined> => {
  const [row] = await db.query<StoredVersion>(sql`
    SELECT content_id, size, type, sha256 FROM tenant_crm.document_versions
    WHERE tenant_id = ${db.tenantId}::uuid AND document_id = ${documentId}::uuid AND number = ${number}`);
  return row;
};

/** What prevents the deletion of a version. */
interface VersionUses {
  /** The folder of the document. */
  readonly folder_id: string | null;
  readonly is_current: boolean;
  /** Whether a link that has not expired serves it. */
  readonly is_linked: boolean;
}

/** What prevents the deletion of a version of a document. */
export const usesOfVersion = async (
  db: TenantDb,
  documentId: string,
  number: number,
): Promise<VersionUses> => {
  const [row] = await db.query<VersionUses>(sql`
    SELECT folder_id, current_version = ${number}::int AS is_current, EXISTS (
      SELECT FROM tenant_crm.document_links AS link
      WHERE link.tenant_id = ${db.tenantId}::uuid AND link.document_id = ${documentId}::uuid
        AND link.version_number = ${number}::int AND link.expires_at > now()
    ) AS is_linked
    FROM tenant_crm.documents
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${documentId}::uuid`);
  if (!row) throw new Error(`There is no document ${documentId}.`);
  return row;
};

/** Which deleted documents are deleted for good: those that were deleted by then. */
export interface Expired {
  readonly column: 'id' | 'deleted_with';
  readonly id: string;
  readonly deletedBefore: Date;
}

/** How many documents, and how many versions, one transaction deletes. */
const DOCUMENTS_AT_ONCE = 100;
const VERSIONS_AT_ONCE = 500;

/** What one slice of a deletion has done. */
interface Slice {
  /** The contents that the deleted versions referred to. */
  readonly contentIds: readonly string[];
  /** Whether nothing is left. */
  readonly isLast: boolean;
}

/**
 * Deletes the next documents for good, with their versions and links. The current version of a document is deleted in the
 * same transaction as the document: until then, the document can be restored.
 */
export const deleteDocuments = async (
  db: TenantDb,
  { column, id, deletedBefore }: Expired,
): Promise<Slice> => {
  const documents = await db.query<{ id: string }>(sql`
    SELECT id FROM tenant_crm.documents
    WHERE tenant_id = ${db.tenantId}::uuid AND ${Prisma.raw(column)} = ${id}::uuid
      AND deleted_at <= ${deletedBefore} ORDER BY id LIMIT ${DOCUMENTS_AT_ONCE} FOR UPDATE`);
  const ids = documents.map((found) => found.id);
  if (ids.length === 0) return { contentIds: [], isLast: true };
  const former = await db.query<{ content_id: string }>(sql`
    DELETE FROM tenant_crm.document_versions
    WHERE tenant_id = ${db.tenantId}::uuid AND id IN (
      SELECT version.id FROM tenant_crm.document_versions AS version
      JOIN tenant_crm.documents AS document
        ON document.tenant_id = ${db.tenantId}::uuid AND document.id = version.document_id
      WHERE version.tenant_id = ${db.tenantId}::uuid AND version.document_id = ANY(${ids}::uuid[])
        AND version.number < document.current_version
      ORDER BY version.number LIMIT ${VERSIONS_AT_ONCE}
    ) RETURNING content_id`);
  const contentIds = former.map((version) => version.content_id);
  if (former.length === VERSIONS_AT_ONCE) return { contentIds, isLast: false };
  const current = await db.query<{ content_id: string }>(sql`
    DELETE FROM tenant_crm.document_versions
    WHERE tenant_id = ${db.tenantId}::uuid AND document_id = ANY(${ids}::uuid[])
    RETURNING content_id`);
  contentIds.push(...current.map((version) => version.content_id));
  await db.query(sql`
    DELETE FROM tenant_crm.document_links
    WHERE tenant_id = ${db.tenantId}::uuid AND document_id = ANY(${ids}::uuid[])`);
  await db.query(sql`
    DELETE FROM tenant_crm.documents
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ANY(${ids}::uuid[])`);
  return { contentIds, isLast: ids.length < DOCUMENTS_AT_ONCE };
};

/** Deletes a folder for good, with the folders that were deleted with it. */
export const deleteFolders = async (
  db: TenantDb,
  id: string,
  deletedBefore: Date,
): Promise<void> => {
  const folders = await db.query<{ id: string }>(sql`
    SELECT id FROM tenant_crm.document_folders
    WHERE tenant_id = ${db.tenantId}::uuid
      AND ((id = ${id}::uuid AND deleted_with IS NULL) OR deleted_with = ${id}::uuid)
      AND deleted_at <= ${deletedBefore} ORDER BY id FOR UPDATE`);
  const ids = folders.map((found) => found.id);
  await db.query(sql`
    DELETE FROM tenant_crm.document_folder_members
    WHERE tenant_id = ${db.tenantId}::uuid AND folder_id = ANY(${ids}::uuid[])`);
  await db.query(sql`
    DELETE FROM tenant_crm.document_folders
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ANY(${ids}::uuid[])`);
};
