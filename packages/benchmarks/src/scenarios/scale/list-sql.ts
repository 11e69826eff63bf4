import type { Statement } from '../../statement.ts';
import { COUNTED, PER_PAGE, type Sort, sorts, type Table } from './table.ts';

const LIVE = 'tenant_id = $1::uuid AND deleted_at IS NULL';

/** The kept number of a tenant's records. */
const keptTotal = ({ name }: Table): string => `
  (SELECT coalesce(sum(count), 0)::int FROM tenant_crm.record_counts
   WHERE table_name = '${name}' AND tenant_id = $1::uuid AND scope_column = '' AND scope_id = $1::uuid)`;

/** The first page of a whole list. */
export const firstPage = (table: Table, sort: Sort, tenantId: string): Statement => ({
  text: `
    SELECT ${keptTotal(table)} AS total, ${table.columns} FROM tenant_crm.${table.name}
    WHERE ${LIVE} ORDER BY ${sorts[sort]} LIMIT ${PER_PAGE}`,
  values: [tenantId],
});

/** The rows of a page whose ids are found in an index alone. */
const pageByIds = (table: Table, sort: Sort, ids: string): string => `
  SELECT ${keptTotal(table)} AS total, ${table.columns} FROM tenant_crm.${table.name}
  WHERE tenant_id = $1::uuid AND id = ANY(ARRAY(
    SELECT id FROM tenant_crm.${table.name} WHERE ${LIVE} ${ids}
  )) ORDER BY ${sorts[sort]}`;

/** A page of a whole list by its number. */
export const laterPage = (table: Table, sort: Sort, tenantId: string, page: number): Statement => ({
  text: pageByIds(table, sort, `ORDER BY ${sorts[sort]} LIMIT ${PER_PAGE} OFFSET $2`),
  values: [tenantId, (page - 1) * PER_PAGE],
});

const reversed = { '-created_at': 'created_at, id', name: 'sort_name DESC, id DESC' } as const;

/** The last page of a whole list with `total` records: read from its end. */
export const lastPage = (table: Table, sort: Sort, tenantId: string, total: number): Statement => ({
  text: pageByIds(table, sort, `ORDER BY ${reversed[sort]} LIMIT $2`),
  values: [tenantId, total - (Math.ceil(total / PER_PAGE) - 1) * PER_PAGE],
});

/**
 * The newest of few records that meet a condition: all of them are found, counted and sorted. No plan suits all
 * values.
 */
export const newestOfFew = (
  table: Table,
  condition: string,
  values: readonly unknown[],
): Statement => ({
  text: `
    WITH hits AS MATERIALIZED (
      SELECT id, created_at FROM tenant_crm.${table.name}
      WHERE ${LIVE} AND ${condition} LIMIT ${COUNTED + 1}
    )
    SELECT total, ${table.columns}
    FROM (SELECT count(*)::int AS total FROM hits) AS counted
    LEFT JOIN tenant_crm.${table.name} ON tenant_id = $1::uuid AND id = ANY(ARRAY(
      SELECT id FROM hits ORDER BY ${sorts['-created_at']} LIMIT ${PER_PAGE}
    )) ORDER BY ${sorts['-created_at']}`,
  values,
  isPlannedEachTime: true,
});

/**
 * The newest of many records that meet a condition: the list is read in order, and hits are counted up to 10,000.
 */
export const newestOfMany = (
  table: Table,
  condition: string,
  values: readonly unknown[],
  total = `
    (SELECT count(*)::int FROM (
      SELECT FROM tenant_crm.${table.name} WHERE ${LIVE} AND ${condition} LIMIT ${COUNTED + 1}
    ) AS hits)`,
): Statement => ({
  text: `
    SELECT least(${total}, ${COUNTED}) AS total, ${table.columns} FROM tenant_crm.${table.name}
    WHERE ${LIVE} AND ${condition} ORDER BY ${sorts['-created_at']} LIMIT ${PER_PAGE}`,
  values,
  isPlannedEachTime: true,
});

/** The kept number of live records with the tag that is the second value. */
export const tagTotal = ({ name }: Table): string => `
  (SELECT coalesce(sum(count), 0)::int FROM tenant_crm.tag_counts
   WHERE tenant_id = $1::uuid AND table_name = '${name}' AND tag = $2)`;
