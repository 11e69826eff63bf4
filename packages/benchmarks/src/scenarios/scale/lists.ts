import type { ScaleBench, ScaleScenario, ScaleTenant } from '../../scale/bench.ts';
import { besideSql, type ListCase } from '../../scale/comparison.ts';
import { firstPage, lastPage, laterPage, newestOfFew, newestOfMany, tagTotal } from './list-sql.ts';
import { COUNTED, companies, contacts, PER_PAGE, type Sort, sorts, type Table } from './table.ts';

const HUNDREDTH = 100;

const liveRows = async (
  { database }: ScaleBench,
  { name }: Table,
  { tenantId }: ScaleTenant,
  condition = 'TRUE',
  values: readonly unknown[] = [],
): Promise<number> => {
  const { rows } = await database.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM tenant_crm.${name}
     WHERE tenant_id = $1 AND deleted_at IS NULL AND ${condition}`,
    [tenantId, ...values],
  );
  return rows[0]?.count ?? 0;
};

/** The pages of a whole list. */
const pages = async (
  bench: ScaleBench,
  table: Table,
  tenant: ScaleTenant,
): Promise<readonly ListCase[]> => {
  const { tenantId } = tenant;
  const total = await liveRows(bench, table, tenant);
  const few = await liveRows(bench, table, bench.reference);
  return (Object.keys(sorts) as Sort[]).flatMap((sort) => {
    const order = sort === 'name' ? 'by name' : 'by creation';
    const common = { tenant, isBounded: true };
    const path = `${table.name}?sort=${sort}`;
    const hundredth = Math.min(HUNDREDTH, Math.ceil(total / PER_PAGE));
    return [
      {
        ...common,
        what: `${table.name} ${order}, first page`,
        path,
        referencePath: path,
        statement: firstPage(table, sort, tenantId),
      },
      {
        ...common,
        what: `${table.name} ${order}, 100th page`,
        path: `${path}&page=${hundredth}`,
        // A list of companies ends before its 100th page there.
        referencePath: `${path}&page=${Math.min(HUNDREDTH, Math.ceil(few / PER_PAGE))}`,
        statement: laterPage(table, sort, tenantId, hundredth),
      },
      {
        ...common,
        what: `${table.name} ${order}, last page`,
        path: `${path}&page=${Math.ceil(total / PER_PAGE)}`,
        referencePath: `${path}&page=${Math.ceil(few / PER_PAGE)}`,
        statement: lastPage(table, sort, tenantId, total),
      },
    ];
  });
};

/** An owner of records. */
const ownerIn = async (
  { database }: ScaleBench,
  { name }: Table,
  { tenantId }: ScaleTenant,
): Promise<string> => {
  const { rows } = await database.query<{ owner_id: string }>(
    `SELECT owner_id FROM tenant_crm.${name}
     WHERE tenant_id = $1 AND deleted_at IS NULL AND owner_id IS NOT NULL ORDER BY id LIMIT 1`,
    [tenantId],
  );
  return rows[0]?.owner_id ?? '';
};

const COMMON_TAG = 'vip';
const RARE_TAG = 'founder';

/** The first page of a filtered list. */
const filtered = async (
  bench: ScaleBench,
  table: Table,
  tenant: ScaleTenant,
): Promise<readonly ListCase[]> => {
  const { tenantId } = tenant;
  const path = (query: object): string =>
    `${table.name}?${new URLSearchParams(Object.entries(query))}`;
  const owner = await ownerIn(bench, table, tenant);
  const owned = await liveRows(bench, table, tenant, 'owner_id = $2::uuid', [owner]);
  const newestOwned = owned > COUNTED ? newestOfMany : newestOfFew;
  const tagged = 'tags @> ARRAY[$2]';
  const byTag = (what: string, tag: string, isRare: boolean): ListCase => ({
    what: `${table.name} with a ${what} tag`,
    tenant,
    path: path({ tag }),
    referencePath: path({ tag }),
    statement: isRare
      ? newestOfFew(table, tagged, [tenantId, tag])
      : newestOfMany(table, tagged, [tenantId, tag], tagTotal(table)),
  });
  return [
    {
      what: `${table.name} of one owner`,
      tenant,
      path: path({ owner_id: owner }),
      referencePath: path({ owner_id: await ownerIn(bench, table, bench.reference) }),
      statement: newestOwned(table, 'owner_id = $2::uuid', [tenantId, owner]),
    },
    byTag('common', COMMON_TAG, false),
    ...(table.name === 'contacts' ? [byTag('rare', RARE_TAG, true)] : []),
  ];
};

/** The first page in a small tenant. */
const inSmallTenant = ({ small }: ScaleBench, table: Table): ListCase => ({
  what: `${table.name} by creation, first page of a small tenant`,
  tenant: small,
  path: table.name,
  statement: firstPage(table, '-created_at', small.tenantId),
});

const listsOf = (table: Table): ScaleScenario => ({
  name: table.name,
  lists: [`/${table.name}`],
  run: async (bench) =>
    besideSql(bench, [
      ...(await pages(bench, table, bench.large)),
      ...(await filtered(bench, table, bench.large)),
      inSmallTenant(bench, table),
    ]),
});

export const contactLists = listsOf(contacts);
export const companyLists = listsOf(companies);
