import { pageWithin } from '@tessera/http-kit';
import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { exactly, offsetWithin, type Page } from '../../records/listing.ts';
import { type CompanyDuplicatesPayload, type DuplicatesQuery, SHOWN } from './duplicates.schema.ts';

const { sql, raw, join } = Prisma;

/** Field -> the generated column with its normalized value. */
const keys = { domain: 'domain_key', tax_number: 'tax_number_key' } as const;
type Field = keyof typeof keys;

type Row = Omit<CompanyDuplicatesPayload, 'field'> & { total: number; field: Field | null };

/**
 * One page of the groups of live companies with the same domain or tax number, or the last page if the requested
 * one is beyond the end. An index on each key contains the groups in order; companies are read for the page only.
 */
export const listDuplicates = async (
  db: TenantDb,
  { page, per_page: perPage, field }: DuplicatesQuery,
): Promise<Page<CompanyDuplicatesPayload>> => {
  const companies = raw(`${db.readSchema}.companies`);
  const live = (key: string): Prisma.Sql =>
    sql`tenant_id = ${db.tenantId}::uuid AND deleted_at IS NULL AND ${raw(key)} IS NOT NULL`;
  const fields: Field[] = field ? [field] : ['domain', 'tax_number'];
  const groups = fields.map((name) => {
    const key = raw(keys[name]);
    return sql`SELECT ${name}::text AS field, ${key} AS value, count(*)::int AS count
      FROM ${companies} WHERE ${live(keys[name])} GROUP BY ${key} HAVING count(*) > 1`;
  });
  const members = fields.map(
    (name) => sql`(
      SELECT id, name, domain, tax_number, created_at FROM ${companies}
      WHERE ${live(keys[name])} AND ${raw(keys[name])} = page.value AND page.field = ${name}
      ORDER BY id LIMIT ${SHOWN})`,
  );
  const rows = await db.read<Row>(sql`
    WITH found AS (${join(groups, ' UNION ALL ')}),
      counted AS (SELECT count(*)::int AS total FROM found),
      page AS (
        SELECT * FROM found ORDER BY field, value LIMIT ${perPage} OFFSET (
          SELECT ${offsetWithin({ page, perPage }, sql`total`)} FROM counted
        )
      )
    SELECT total, page.*, (
      SELECT jsonb_agg(to_jsonb(member) ORDER BY id) FROM (${join(members, ' UNION ALL ')}) AS member
    ) AS companies
    FROM counted LEFT JOIN page ON TRUE ORDER BY field, value`);
  const total = rows[0]?.total ?? 0;
  const found = rows.flatMap(({ total: _total, field: name, ...group }) =>
    name === null
      ? []
      : [
          {
            ...group,
            field: name,
            companies: group.companies.map((one) => ({
              ...one,
              created_at: new Date(one.created_at),
            })),
          },
        ],
  );
  return exactly({ perPage }, { rows: found, page: pageWithin({ page, perPage }, total), total });
};
