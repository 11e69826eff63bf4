import type { TenantDb } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { refuseViolation } from './constraints.ts';
import { groupByDefaults, type NewValues } from './insert-groups.ts';
import type { Kind, KindTypes } from './kind.ts';
import { type Cause, createDifferences, recordChanges } from './record-changes.ts';
import { columnsOf } from './row.ts';
import { anyOf } from './row-conditions.ts';

const { sql, join, raw } = Prisma;

/** A record that is to be inserted, or the columns of one that are to be changed. */
export interface RecordValues {
  readonly id: string;
  readonly values: object;
}

/** Writes many rows of one kind at once, with their history. Values must not be bytes. */
export interface ManyRows<T extends KindTypes> {
  /**
   * Inserts rows, in one statement unless only some of them give a column that has a default, and returns them in this
   * order.
   */
  insertMany(
    db: TenantDb,
    records: readonly RecordValues[],
    cause: Cause,
  ): Promise<readonly T['row'][]>;
  /** The same, and returns nothing, which takes less time. */
  addMany(db: TenantDb, records: readonly RecordValues[], cause: Cause): Promise<void>;
  /**
   * Changes rows that the transaction has locked, in one statement; each once. All get a value for each column that any of
   * them changes. Rows that have all of the values already stay as they are; returns the others, in no particular order.
   */
  updateMany(
    db: TenantDb,
    records: readonly RecordValues[],
    cause: Cause,
  ): Promise<readonly T['row'][]>;
}

/** The part of a kind's repository for many rows. A violated constraint is a 422 that names the field. */
export const createManyRows = <T extends KindTypes>(kind: Kind<T>): ManyRows<T> => {
  type Row = T['row'];
  const { table: name, jsonFields } = kind;
  const table = raw(`tenant_crm.${name}`);
  const columns = columnsOf(kind);
  const selected = raw([...columns.keys()].join(', '));
  const refuse = refuseViolation(kind);
  const differences = createDifferences(kind);

  /** The ids with the values that are columns of this kind. */
  const picked = (records: readonly RecordValues[]): NewValues[] =>
    records.map(({ id, values }) => {
      const row: Record<string, unknown> = { id };
      for (const [column, value] of Object.entries(values)) {
        if (value !== undefined && columns.has(column)) row[column] = value;
      }
      return row;
    });

  const namesIn = (rows: readonly NewValues[]): string[] => [...new Set(rows.flatMap(Object.keys))];

  /** The rows as SQL. As JSON, the statement and its one parameter do not depend on their number. */
  const rowsOf = (rows: readonly NewValues[]): Prisma.Sql =>
    sql`jsonb_populate_recordset(NULL::${table}, ${JSON.stringify(rows)}::jsonb)`;

  const inserting = (
    db: TenantDb,
    rows: readonly NewValues[],
    returned: Prisma.Sql,
  ): Prisma.Sql => {
    const now = new Date();
    const names = raw(namesIn(rows).join(', '));
    return sql`
      INSERT INTO ${table} (tenant_id, created_at, updated_at, ${names})
      SELECT ${db.tenantId}::uuid, ${now}::timestamptz, ${now}::timestamptz, ${names}
      FROM ${rowsOf(rows)} RETURNING ${returned}`;
  };

  const recording = (db: TenantDb, cause: Cause): Prisma.Sql =>
    recordChanges(db, cause, { table: name, from: sql`created` });

  return {
    async insertMany(db, records, cause) {
      const byId = new Map<string, Row>();
      for (const group of await groupByDefaults(db, name, picked(records))) {
        const rows = await db
          .query<Row>(
            sql`WITH created AS (${inserting(db, group, selected)}), recorded AS (${recording(db, cause)})
              SELECT * FROM created`,
          )
          .catch(refuse);
        for (const row of rows) byId.set(row.id, row);
      }
      return records.map(({ id }) => byId.get(id) as Row);
    },

    async addMany(db, records, cause) {
      for (const group of await groupByDefaults(db, name, picked(records))) {
        const created = inserting(db, group, sql`id, version`);
        await db.query(sql`WITH created AS (${created}) ${recording(db, cause)}`).catch(refuse);
      }
    },

    async updateMany(db, records, cause) {
      if (records.length === 0) return [];
      const rows = picked(records);
      const names = namesIn(rows).filter((column) => column !== 'id');
      const own = names.map((column) => {
        const held = Object.hasOwn(jsonFields, column);
        return { column, value: held ? `${column} || given_${column}` : `given_${column}` };
      });
      const settings = [
        ...own.map(({ column, value }) => raw(`${column} = ${value}`)),
        sql`version = version + 1`,
        sql`updated_at = ${new Date()}`,
      ];
      const others = own.map(({ column, value }) => raw(`${column} IS DISTINCT FROM ${value}`));
      const { former, names: formerNames, changes } = differences(names);
      const values = raw(
        ['id', ...names].map((column) => `${column} AS given_${column}`).join(', '),
      );
      const ids = records.map(({ id }) => id);
      const recorded = recordChanges(db, cause, { table: name, from: sql`changed`, changes });
      return db
        .query<Row>(
          sql`WITH changed AS (
              UPDATE ${table} SET ${join(settings)}
              FROM (SELECT ${values} FROM ${rowsOf(rows)}) AS given, (
                SELECT ${former} FROM ${table}
                WHERE tenant_id = ${db.tenantId}::uuid AND id = ANY(${ids}::uuid[])
              ) AS former
              WHERE tenant_id = ${db.tenantId}::uuid AND id = former_id AND given_id = former_id
                AND (${anyOf(others)})
              RETURNING ${selected}, ${formerNames}
            ), recorded AS (${recorded})
            SELECT ${selected} FROM changed`,
        )
        .catch(refuse);
    },
  };
};
