import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { ExpiringLink } from '../../records/expiring-links.ts';
import type { PreviewKind } from './previews.kind.ts';

const { sql, raw } = Prisma;

/** The columns of a preview that are needed to serve it. */
export interface FoundPreview extends ExpiringLink {
  readonly record_id: string;
}

const tableOf = ({ table }: PreviewKind): Prisma.Sql => raw(`tenant_crm.${table}`);

const columnOf = ({ parent }: PreviewKind): Prisma.Sql => raw(parent?.column ?? '');

/** A preview, expired or not; undefined if there is none. */
export const findPreview = async (
  db: TenantDb,
  kind: PreviewKind,
  id: string,
): Promise<FoundPreview | undefined> => {
  const [preview] = await db.query<FoundPreview>(sql`
    SELECT ${columnOf(kind)} AS record_id, token_hash, expires_at, user_id, user_type, key_id
    FROM ${tableOf(kind)}
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${id}::uuid`);
  return preview;
};

/** Deletes the previews of a record that have expired. */
export const deleteExpiredPreviews = async (
  db: TenantDb,
  kind: PreviewKind,
  recordId: string,
): Promise<void> => {
  await db.query(sql`
    DELETE FROM ${tableOf(kind)}
    WHERE tenant_id = ${db.tenantId}::uuid AND ${columnOf(kind)} = ${recordId}::uuid
      AND expires_at <= now()`);
};
