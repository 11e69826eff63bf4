import type { TenantDb } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';

const { sql } = Prisma;

/** The file of a document. */
export interface DocumentFile {
  readonly content_id: string;
  readonly type: string;
  readonly size: number;
  readonly sha256: string;
}

/** The file of a document that is not deleted, whichever folder it is in. */
export const findDocumentFile = async (
  db: TenantDb,
  documentId: string,
): Promise<DocumentFile | undefined> => {
  const [found] = await db.query<DocumentFile>(sql`
    SELECT content_id, type, size, sha256 FROM tenant_crm.documents
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${documentId}::uuid AND deleted_at IS NULL`);
  return found;
};
