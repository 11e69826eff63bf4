import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Caller } from '../../http.ts';
import type { ExpiringLink } from '../../records/expiring-links.ts';
import { causeOf } from '../../records/record-changes.ts';
import { recordUnversioned } from '../../records/unversioned-changes.ts';

const { sql } = Prisma;

/** The columns of a link that are needed to serve it. */
export interface FoundLink extends ExpiringLink {
  readonly document_id: string;
  readonly version_number: number | null;
}

/** A link, expired or not; undefined if there is none. */
export const findLink = async (db: TenantDb, id: string): Promise<FoundLink | undefined> => {
  const [link] = await db.query<FoundLink>(sql`
    SELECT document_id, version_number, token_hash, expires_at, user_id, user_type, key_id
    FROM tenant_crm.document_links
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${id}::uuid`);
  return link;
};

/** Deletes the links to a document that have expired. */
export const deleteExpiredLinks = async (db: TenantDb, documentId: string): Promise<void> => {
  await db.query(sql`
    DELETE FROM tenant_crm.document_links
    WHERE tenant_id = ${db.tenantId}::uuid AND document_id = ${documentId}::uuid AND expires_at <= now()`);
};

/** Adds the creation or deletion of a link to the history of its document (`create_link`, `delete_link`). */
export const recordInDocument = async (
  db: TenantDb,
  caller: Caller,
  link: { readonly id: string; readonly document_id: string; readonly expires_at: Date },
  what: 'create' | 'delete',
): Promise<void> => {
  const shown = sql`jsonb_build_object('id', ${link.id}::text,
    'expires_at', ${link.expires_at.toISOString()}::text)`;
  const pair = what === 'create' ? sql`NULL, ${shown}` : sql`${shown}, NULL`;
  const changes = sql`jsonb_build_object('link', jsonb_build_array(${pair}))`;
  const cause = causeOf(caller, `${what}_link`);
  await recordUnversioned(db, cause, { table: 'documents', id: link.document_id, changes });
};
