import type { TenantDb } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';

const { sql, raw } = Prisma;

/** The tables whose records form a tree by `parent_id`. */
export type TreeTable = 'document_folders' | 'pages';

/** A record and all records below it as `tree (id, depth)`, deleted ones included, for WITH RECURSIVE. */
export const subtreeOf = ({ tenantId }: TenantDb, table: TreeTable, id: string): Prisma.Sql => sql`
  tree (id, depth) AS (
    SELECT ${id}::uuid, 1
    UNION ALL
    SELECT child.id, tree.depth + 1
    FROM ${raw(`tenant_crm.${table}`)} AS child JOIN tree ON child.parent_id = tree.id
    WHERE child.tenant_id = ${tenantId}::uuid
  )`;

/** A record and all records above it as `path (id, parent_id)`, for WITH RECURSIVE. */
const pathTo = ({ tenantId }: TenantDb, table: TreeTable, id: string): Prisma.Sql => sql`
  path (id, parent_id) AS (
    SELECT id, parent_id FROM ${raw(`tenant_crm.${table}`)}
    WHERE tenant_id = ${tenantId}::uuid AND id = ${id}::uuid
    UNION ALL
    SELECT above.id, above.parent_id FROM ${raw(`tenant_crm.${table}`)} AS above
    JOIN path ON above.id = path.parent_id WHERE above.tenant_id = ${tenantId}::uuid
  )`;

/** Whether a record is another one or below it. */
export const isWithin = async (
  db: TenantDb,
  table: TreeTable,
  id: string,
  ancestor: string,
): Promise<boolean> => {
  const [row] = await db.query<{ found: boolean }>(sql`
    WITH RECURSIVE ${pathTo(db, table, id)}
    SELECT EXISTS (SELECT FROM path WHERE id = ${ancestor}::uuid) AS found`);
  return row?.found === true;
};

/** On which level a record is: 1 has no parent. */
export const levelOf = async (db: TenantDb, table: TreeTable, id: string): Promise<number> => {
  const [row] = await db.query<{ level: number }>(sql`
    WITH RECURSIVE ${pathTo(db, table, id)} SELECT count(*)::int AS level FROM path`);
  return row?.level ?? 0;
};

/** The ids of a record and all records below it, deleted ones included. */
export const idsBelow = async (db: TenantDb, table: TreeTable, id: string): Promise<string[]> => {
  const rows = await db.query<{ id: string }>(sql`
    WITH RECURSIVE ${subtreeOf(db, table, id)} SELECT id FROM tree`);
  return rows.map((row) => row.id);
};

/** How many levels a record and those below it take up. */
export const heightOf = async (db: TenantDb, table: TreeTable, id: string): Promise<number> => {
  const [row] = await db.query<{ height: number }>(sql`
    WITH RECURSIVE ${subtreeOf(db, table, id)} SELECT max(depth)::int AS height FROM tree`);
  return row?.height ?? 1;
};
