import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { LimitedRead } from '../../records/records.ts';

const { sql, join } = Prisma;

/** A row of a file that did not become a record. */
export interface FailedRow {
  /** The header is row 1. */
  readonly row_number: number;
  readonly cells: readonly string[];
  readonly errors: readonly string[];
}

/** How many failed rows one statement deletes: it has 30 seconds. */
const DELETED_AT_ONCE = 20_000;

/** How many failed rows are read at once, and about how many characters: of arrays, in which empty cells have some too. */
const FAILURES_AT_ONCE = 500;
const CHARACTERS_AT_ONCE = 4_000_000;

/** The condition of the rows that belong to an import. */
export const ofImport = (db: TenantDb, id: string): Prisma.Sql =>
  sql`tenant_id = ${db.tenantId}::uuid AND import_id = ${id}::uuid`;

/** PostgreSQL cannot store NUL. */
const withoutNul = (texts: readonly string[]): string[] =>
  texts.map((text) => text.replaceAll('\0', '\ufffd'));

/** Stores rows that did not become records. */
export const writeFailures = async (
  db: TenantDb,
  id: string,
  failures: readonly FailedRow[],
): Promise<void> => {
  if (failures.length === 0) return;
  const values = failures.map(
    ({ row_number, cells, errors }) =>
      sql`(${db.tenantId}::uuid, ${id}::uuid, ${row_number}, ${withoutNul(cells)}::text[], ${withoutNul(errors)}::text[])`,
  );
  await db.query(sql`
    INSERT INTO tenant_crm.import_failures (tenant_id, import_id, row_number, cells, errors)
    VALUES ${join(values)}`);
};

/** Deletes the failed rows of an import, as many at once as one statement can. */
export const deleteFailures = async (db: TenantDb, id: string): Promise<void> => {
  for (let deleted = DELETED_AT_ONCE; deleted === DELETED_AT_ONCE; ) {
    const rows = await db.query(sql`
      DELETE FROM tenant_crm.import_failures WHERE ${ofImport(db, id)} AND row_number = ANY(ARRAY(
        SELECT row_number FROM tenant_crm.import_failures WHERE ${ofImport(db, id)}
        ORDER BY row_number LIMIT ${DELETED_AT_ONCE}
      )) RETURNING row_number`);
    deleted = rows.length;
  }
};

/** Failed rows after a row number, in their order; no more of them once they have `CHARACTERS_AT_ONCE`. */
const readFailures = (db: TenantDb, id: string, after: number): Promise<FailedRow[]> =>
  db.query<FailedRow>(sql`
    WITH RECURSIVE batch (row_number, number, characters) AS (
      SELECT ${after}::int, 0, 0
      UNION ALL
      SELECT next.row_number, batch.number + 1, batch.characters + next.characters
      FROM batch CROSS JOIN LATERAL (
        SELECT row_number, length(cells::text) + length(errors::text) AS characters
        FROM tenant_crm.import_failures
        WHERE ${ofImport(db, id)} AND row_number > batch.row_number ORDER BY row_number LIMIT 1
      ) AS next
      WHERE batch.number < ${FAILURES_AT_ONCE}::int AND batch.characters < ${CHARACTERS_AT_ONCE}::int
    )
    SELECT row_number, cells, errors FROM tenant_crm.import_failures
    WHERE ${ofImport(db, id)} AND row_number > ${after}::int
      AND row_number <= (SELECT max(row_number) FROM batch) ORDER BY row_number`);

/** The failed rows of an import in their order, in batches of limited size, each of which `limited` reads. */
export async function* failureBatches(
  db: TenantDb,
  id: string,
  limited: LimitedRead = (read) => read(),
): AsyncGenerator<readonly FailedRow[]> {
  for (let last: FailedRow | undefined; ; ) {
    const after = last?.row_number ?? 0;
    const rows = await limited(() => readFailures(db, id, after));
    last = rows.at(-1);
    if (!last) return;
    yield rows;
  }
}
