import type { ClientBase, Pool } from 'pg';

/** A column as the catalogue of the database describes it. */
export interface CatalogueColumn {
  readonly name: string;
  readonly type: string;
  /** Whether the database computes it from other columns. */
  readonly isGenerated: boolean;
}

/** A foreign key of a table. */
export interface CatalogueReference {
  readonly table: string;
  /** Column of this table -> column of the other one. */
  readonly columns: Readonly<Record<string, string>>;
}

/** A table as the catalogue of the database describes it. */
export interface CatalogueTable {
  readonly name: string;
  readonly columns: readonly CatalogueColumn[];
  /** The columns of the primary key, in its order. */
  readonly key: readonly string[];
  readonly references: readonly CatalogueReference[];
}

/** All tables of a schema, without partitions, in the order of their names. */
export const readTables = async (
  client: Pick<ClientBase, 'query'> | Pick<Pool, 'query'>,
  schema: string,
): Promise<CatalogueTable[]> => {
  const { rows } = await client.query<CatalogueTable>(
    `SELECT relname AS name,
       (SELECT json_agg(json_build_object('name', attname, 'type', format_type(atttypid, NULL),
          'isGenerated', attgenerated <> '') ORDER BY attnum)
        FROM pg_attribute WHERE attrelid = tables.oid AND attnum > 0 AND NOT attisdropped) AS columns,
       coalesce((SELECT json_agg(attname ORDER BY place)
        FROM pg_index CROSS JOIN unnest(indkey[0:indnkeyatts - 1]) WITH ORDINALITY AS part (number, place)
        JOIN pg_attribute ON attrelid = indrelid AND attnum = number
        WHERE indrelid = tables.oid AND indisprimary), '[]') AS key,
       coalesce((SELECT json_agg(json_build_object('table', other.relname, 'columns', (
          SELECT json_object_agg(here.attname, there.attname)
          FROM unnest(conkey, confkey) AS pair (here_number, there_number)
          JOIN pg_attribute AS here ON here.attrelid = conrelid AND here.attnum = here_number
          JOIN pg_attribute AS there ON there.attrelid = confrelid AND there.attnum = there_number
        )) ORDER BY conname)
        FROM pg_constraint JOIN pg_class AS other ON other.oid = confrelid
        WHERE conrelid = tables.oid AND contype = 'f' AND conparentid = 0), '[]') AS references
     FROM pg_class AS tables
     WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
       AND relname <> '_prisma_migrations'
     ORDER BY relname`,
    [schema],
  );
  return rows;
};

/** The tables in an order in which each comes before those that it refers to. Throws if there is none. */
export const referringFirst = (tables: readonly CatalogueTable[]): CatalogueTable[] => {
  const ordered: CatalogueTable[] = [];
  let left = [...tables];
  while (left.length > 0) {
    const isReferredTo = ({ name }: CatalogueTable) =>
      left.some(
        (other) => other.name !== name && other.references.some(({ table }) => table === name),
      );
    const free = left.filter((table) => !isReferredTo(table));
    if (free.length === 0) {
      throw new Error(`Tables refer to each other: ${left.map(({ name }) => name).join(', ')}.`);
    }
    ordered.push(...free);
    left = left.filter((table) => !free.includes(table));
  }
  return ordered;
};
