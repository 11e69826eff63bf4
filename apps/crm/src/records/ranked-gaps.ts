import type { TenantDb } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { withoutIndex } from './row-conditions.ts';

const { sql, raw } = Prisma;

/** Free space among rows in a fixed order: between two ranks, or open where there is null. */
export interface Gap {
  readonly after: string | null;
  readonly before: string | null;
}

/** Beside which row a moved one is to be. */
export interface Beside {
  readonly side: 'before' | 'after';
  readonly neighbourId: string;
  readonly movedId: string;
}

/** The rows of a table that have an order, each of which belongs to a place such as a column of a board. */
export interface RankedRows<Place> {
  readonly table: string;
  /** The column of the rank. */
  readonly rank: string;
  /**
   * The column that can be null in the condition of a place. `IS NULL` is no equation to the planner: it uses the index
   * only if the order contains the column.
   */
  readonly nullable: string;
  /** The condition for the live rows of a place. */
  within(db: TenantDb, place: Place): Prisma.Sql;
}

/** Finds the space for rows that are added or moved; the place must be locked. */
export interface RankedGaps<Place> {
  /** The space after all rows of a place except the one with this id. */
  atEnd(db: TenantDb, place: Place, movedId: string): Promise<Gap>;
  /**
   * The space directly before or after a row of a place, where the moved row itself takes up none. Undefined if there is
   * no such row in the place.
   */
  beside(db: TenantDb, place: Place, beside: Beside): Promise<Gap | undefined>;
  /** The space after a rank, up to the next row. */
  behind(db: TenantDb, place: Place, rank: string): Promise<Gap>;
  /** Whether a row of the place has the rank. */
  isTaken(db: TenantDb, place: Place, rank: string): Promise<boolean>;
}

const otherThan = (id: string): Prisma.Sql => sql`id <> ${id}::uuid`;

export const createRankedGaps = <Place>(rows: RankedRows<Place>): RankedGaps<Place> => {
  const table = raw(`tenant_crm.${rows.table}`);
  const rank = raw(rows.rank);
  const orders = {
    first: raw(`${rows.nullable}, ${rows.rank}`),
    last: raw(`${rows.nullable} DESC, ${rows.rank} DESC`),
  };

  /** The rank of the first or last row of a place that meets the condition. */
  const rankAtEdge = async (
    db: TenantDb,
    place: Place,
    condition: Prisma.Sql,
    edge: 'first' | 'last',
  ): Promise<string | null> => {
    const [found] = await db.query<{ rank: string }>(sql`
      SELECT ${rank} AS rank FROM ${table} WHERE ${rows.within(db, place)} AND ${condition}
      ORDER BY ${orders[edge]} LIMIT 1`);
    return found?.rank ?? null;
  };

  return {
    async atEnd(db, place, movedId) {
      return { after: await rankAtEdge(db, place, otherThan(movedId), 'last'), before: null };
    },

    async beside(db, place, { side, neighbourId, movedId }) {
      const others = otherThan(movedId);
      const [neighbour] = await db.query<{ rank: string }>(sql`
        SELECT ${rank} AS rank FROM ${table}
        WHERE tenant_id = ${db.tenantId}::uuid AND id = ${neighbourId}::uuid AND ${others}
          AND ${withoutIndex(rows.within(db, place))}`);
      if (!neighbour) return undefined;
      const { rank: at } = neighbour;
      return side === 'after'
        ? {
            after: at,
            before: await rankAtEdge(db, place, sql`${rank} > ${at} AND ${others}`, 'first'),
          }
        : {
            after: await rankAtEdge(db, place, sql`${rank} < ${at} AND ${others}`, 'last'),
            before: at,
          };
    },

    async behind(db, place, at) {
      return { after: at, before: await rankAtEdge(db, place, sql`${rank} > ${at}`, 'first') };
    },

    isTaken: async (db, place, at) =>
      (await rankAtEdge(db, place, sql`${rank} = ${at}`, 'first')) !== null,
  };
};
