import type { ScanFollower } from '../../files/processing.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { causeOf, recordChanges } from '../../records/record-changes.ts';

const { sql } = Prisma;

/** Copies the scan status of a content to the documents whose current version has it, including deleted ones. */
export const followScan: ScanFollower = (db, contentId, status) =>
  db.transaction(async (tx) => {
    const tenant = sql`tenant_id = ${db.tenantId}::uuid`;
    // In the order of ids, to avoid deadlocks between two of these transactions.
    const found = await tx.query<{ id: string }>(sql`
      SELECT id FROM tenant_crm.documents
      WHERE ${tenant} AND content_id = ${contentId}::uuid AND scan_status <> ${status} AND id IN (
        SELECT document_id FROM tenant_crm.document_versions
        WHERE ${tenant} AND content_id = ${contentId}::uuid
      ) ORDER BY id FOR NO KEY UPDATE`);
    if (found.length === 0) return;
    const ids = found.map(({ id }) => id);
    const recorded = recordChanges(tx, causeOf({ tenantId: db.tenantId }, 'scan'), {
      table: 'documents',
      from: sql`changed`,
      changes: sql`jsonb_build_object('scan_status', jsonb_build_array(former_status, scan_status))`,
    });
    await tx.query(sql`
      WITH changed AS (
        UPDATE tenant_crm.documents
        SET scan_status = ${status}, version = version + 1, updated_at = ${new Date()}
        FROM (
          SELECT id AS former_id, scan_status AS former_status FROM tenant_crm.documents
          WHERE ${tenant} AND id = ANY(${ids}::uuid[])
        ) AS former
        WHERE ${tenant} AND id = former_id
        RETURNING id, version, former_status, scan_status
      ), recorded AS (${recorded})
      SELECT id FROM changed`);
  });
