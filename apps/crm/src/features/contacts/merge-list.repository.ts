import { pageWithin } from '@tessera/http-kit';
import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Caller } from '../../http.ts';
import { exactly, offsetWithin, type Page } from '../../records/listing.ts';
import { visibleOf } from '../../records/scope.ts';
import { contact } from './contacts.kind.ts';
import type { ContactMergePayload, MergesQuery } from './merge-list.schema.ts';
import { reversibleUntil } from './merges.rules.ts';

const { sql, raw } = Prisma;

const selectVisible = visibleOf(contact);

type Merge = Omit<ContactMergePayload, 'reversible_until'>;
type Row = { readonly is_visible: boolean; readonly total: number } & (
  | Merge
  | { readonly contact_id: null }
);

/**
 * One page of the merges into a contact that have not been undone, newest first, or the last page if the requested one is
 * beyond the end; undefined if the contact does not exist.
 */
export const listMerges = async (
  db: TenantDb,
  caller: Caller,
  survivorId: string,
  { page, per_page: perPage }: MergesQuery,
): Promise<Page<ContactMergePayload> | undefined> => {
  const schema = raw(db.readSchema);
  const merges = sql`
    FROM ${schema}.contact_merges
    WHERE tenant_id = ${db.tenantId}::uuid AND survivor_id = ${survivorId}::uuid AND undone_at IS NULL`;
  const rows = await db.read<Row>(sql`
    WITH counted AS MATERIALIZED (SELECT count(*)::int AS total ${merges}),
      page AS MATERIALIZED (
        SELECT id, merged_id, merged_at ${merges}
        ORDER BY merged_at DESC, id DESC LIMIT ${perPage} OFFSET (
          SELECT ${offsetWithin({ page, perPage }, sql`total`)} FROM counted
        )
      )
    SELECT EXISTS (${selectVisible(db, caller, [survivorId])}) AS is_visible, total,
      merged.id AS contact_id, first_name, last_name, email, merged_at
    FROM counted LEFT JOIN page ON TRUE
    LEFT JOIN ${schema}.contacts AS merged
      ON merged.tenant_id = ${db.tenantId}::uuid AND merged.id = page.merged_id
    ORDER BY merged_at DESC, page.id DESC`);
  const [{ is_visible: isVisible, total } = { is_visible: false, total: 0 }] = rows;
  if (!isVisible) return undefined;
  const found = rows.flatMap(({ is_visible: _isVisible, total: _total, ...merge }) =>
    merge.contact_id === null
      ? []
      : [Object.assign(merge, { reversible_until: reversibleUntil(merge) })],
  );
  return exactly({ perPage }, { rows: found, page: pageWithin({ page, perPage }, total), total });
};
