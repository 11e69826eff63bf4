import type { TenantDb } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { oneFile } from './files.repository.ts';
import type { ScanStatus } from './scan-status.ts';

const { sql } = Prisma;

/** What the scan needs to know about a content. */
export interface ScannedContent {
  readonly scan_status: ScanStatus;
  /** The media type; null if the content was stored without one. */
  readonly type: string | null;
  readonly size: number;
}

/** What a scan found. */
export interface Finding {
  readonly status: ScanStatus;
  /** The name of the malware, or why the content could not be scanned. */
  readonly finding: string | null;
}

/** Sets the scan status of a content to `pending`. */
export const markPending = async (db: TenantDb, id: string): Promise<void> => {
  await db.query(sql`
    UPDATE tenant_crm.file_contents SET scan_status = 'pending' WHERE ${oneFile(db, id)}`);
};

/** The content; undefined if no record refers to it any more. */
export const findScanned = async (
  db: TenantDb,
  id: string,
): Promise<ScannedContent | undefined> => {
  const [row] = await db.query<ScannedContent>(sql`
    SELECT scan_status, type, size FROM tenant_crm.file_contents WHERE ${oneFile(db, id)}`);
  return row;
};

/** Stores the result of a scan; false if the scan status is no longer the one `before` the scan. */
export const saveFinding = async (
  db: TenantDb,
  id: string,
  before: ScanStatus,
  { status, finding }: Finding,
): Promise<boolean> => {
  const scannedAt = status === 'not_scanned' ? null : new Date();
  const rows = await db.query(sql`
    UPDATE tenant_crm.file_contents
    SET scan_status = ${status}, scan_finding = ${finding}, scanned_at = ${scannedAt}
    WHERE ${oneFile(db, id)} AND scan_status = ${before} RETURNING id`);
  return rows.length > 0;
};
