import { Prisma } from '../generated/prisma/client.ts';
import type { ListRequest } from './listing.ts';

const { raw, sql } = Prisma;

/** The name of the value that a row is sorted by among its columns. No column of a record has a name that must be quoted. */
const SORTED_BY = '#sorted_by';

/** Where the previous batch of an export ended. */
export interface Position {
  readonly id: string;
  /** The value of the column by which the export is sorted. */
  readonly value: unknown;
}

/** The position of a row that was read with `sortedBy`. */
export const positionOf = (row: { readonly id: string }): Position => ({
  id: row.id,
  value: (row as unknown as Readonly<Record<string, unknown>>)[SORTED_BY],
});

/** The order of an export: that of the list with the same sort. */
export interface ExportOrder {
  /** What is selected besides a row's columns, for `positionOf`. */
  readonly sortedBy: Prisma.Sql;
  readonly orderBy: Prisma.Sql;
  /**
   * The conditions for the rows after a position, in the order in which their rows follow each other. Nulls are last,
   * and first if the order is descending; a condition for both, with OR, would not be found in an index.
   */
  readonly after: (position: Position | undefined) => readonly Prisma.Sql[];
}

export const exportOrder = ({ column, descending }: ListRequest['sort']): ExportOrder => {
  const name = raw(column);
  const [direction, beyond] = descending ? [raw('DESC'), raw('<')] : [raw('ASC'), raw('>')];
  const others = descending ? sql`${name} IS NOT NULL` : sql`${name} IS NULL`;
  return {
    sortedBy: sql`, ${name} AS ${raw(`"${SORTED_BY}"`)}`,
    orderBy: sql`${name} ${direction}, id ${direction}`,
    after(position) {
      if (!position) return [Prisma.sql`TRUE`];
      const { id, value } = position;
      const isNull = value === null;
      const next = isNull
        ? sql`${name} IS NULL AND id ${beyond} ${id}::uuid`
        : sql`(${name}, id) ${beyond} (${value}, ${id}::uuid)`;
      return isNull === descending ? [next, others] : [next];
    },
  };
};

/** The order of an export without a sort. */
export const byId: ExportOrder = {
  sortedBy: Prisma.empty,
  orderBy: sql`id`,
  after: (position) => [position ? sql`id > ${position.id}::uuid` : sql`TRUE`],
};
