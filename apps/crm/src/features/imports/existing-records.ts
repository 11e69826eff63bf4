import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';

const { sql, raw } = Prisma;

/** What the records of a kind are recognised by besides their ids. */
export interface Identity {
  readonly table: string;
  /** The field with the address or domain. */
  readonly field: string;
  /** The fields that hold the value if only `isAlso` holds. */
  readonly alsoIn: readonly string[];
  /**
   * The condition, which an index serves, for rows that a value also belongs to if it is in the field of none, such as the
   * further addresses of a contact.
   */
  isAlso(value: Prisma.Sql): Prisma.Sql;
  /** The same for records that are not in the database yet: `isAlso` holds for those that have the key of the value. */
  alsoKeyOf(value: string): string;
  /** The keys that a record with these fields has. */
  alsoKeysOfRecord(fields: Readonly<Record<string, unknown>>): readonly string[];
}

/** What a row of a file says about its record. */
export interface RowKeys {
  readonly id: string | undefined;
  readonly value: string | undefined;
}

/** The live record of a row. */
export interface Match {
  readonly id: string;
  /** Whether other live records have the same value. The oldest one is the match. */
  readonly isOneOfSeveral: boolean;
  /** Whether only `isAlso` holds. */
  readonly isAlso: boolean;
}

/** The record of a row; undefined if there is none. */
export type Matches = (keys: RowKeys) => Match | undefined;

const liveIds = async (
  db: TenantDb,
  { table }: Identity,
  ids: readonly string[],
): Promise<ReadonlySet<string>> => {
  if (ids.length === 0) return new Set();
  const rows = await db.query<{ id: string }>(sql`
    SELECT id FROM ${raw(`tenant_crm.${table}`)}
    WHERE tenant_id = ${db.tenantId}::uuid AND deleted_at IS NULL AND id = ANY(${ids}::uuid[])`);
  return new Set(rows.map(({ id }) => id));
};

interface Found {
  readonly value: string;
  /** One or two ids. */
  readonly ids: readonly string[];
}

/** The two oldest records with each of the values in their field. */
const withValues = (
  db: TenantDb,
  { table, field }: Identity,
  values: readonly string[],
): Promise<Found[]> => {
  const column = raw(field);
  // One by one, by index, also before PostgreSQL knows how many rows a table has that an import has just filled.
  return db.query(sql`
    SELECT given.value, existing.ids
    FROM unnest(${values}::text[]) AS given (value)
    CROSS JOIN LATERAL (
      SELECT array_agg(id::text ORDER BY id) AS ids FROM (
        SELECT id FROM ${raw(`tenant_crm.${table}`)}
        WHERE tenant_id = ${db.tenantId}::uuid AND deleted_at IS NULL AND ${column} = given.value
        ORDER BY ${column}, id LIMIT 2
      ) AS oldest
    ) AS existing WHERE existing.ids IS NOT NULL`);
};

/** The two oldest records for which `isAlso` holds, of each of the values. */
const alsoWithValues = (
  db: TenantDb,
  { table, isAlso }: Identity,
  values: readonly string[],
): Promise<Found[]> =>
  // All of them, because PostgreSQL expects many and would read the table for the first ones.
  db.query(sql`
    SELECT given.value, existing.ids
    FROM unnest(${values}::text[]) AS given (value)
    CROSS JOIN LATERAL (
      SELECT (array_agg(id::text ORDER BY id))[1:2] AS ids FROM ${raw(`${db.readSchema}.${table}`)}
      WHERE tenant_id = ${db.tenantId}::uuid AND deleted_at IS NULL AND ${isAlso(sql`given.value`)}
    ) AS existing WHERE existing.ids IS NOT NULL`);

/** Finds the live records of rows: by id, else by the value of the field, else by `isAlso`. */
export const findMatches = async (
  db: TenantDb,
  identity: Identity,
  keys: readonly RowKeys[],
): Promise<Matches> => {
  const live = await liveIds(
    db,
    identity,
    keys.flatMap(({ id }) => id ?? []),
  );
  const byValue = new Map<string, Match>();
  const add = (found: readonly Found[], isAlso: boolean): void => {
    for (const { value, ids } of found) {
      const [id] = ids;
      if (id !== undefined) byValue.set(value, { id, isOneOfSeveral: ids.length > 1, isAlso });
    }
  };
  const isFound = ({ id }: RowKeys): boolean => id !== undefined && live.has(id);
  const values = new Set(keys.flatMap((one) => (isFound(one) ? [] : (one.value ?? []))));
  if (values.size > 0) add(await withValues(db, identity, [...values]), false);
  const others = [...values].filter((value) => !byValue.has(value));
  if (others.length > 0) add(await alsoWithValues(db, identity, others), true);
  return ({ id, value }) => {
    if (id !== undefined && live.has(id)) return { id, isOneOfSeveral: false, isAlso: false };
    return value === undefined ? undefined : byValue.get(value);
  };
};
