import { Prisma } from '../generated/prisma/client.ts';
import type { Db } from './model.ts';

const { sql } = Prisma;

/** So many rows tell how frequent a short term is, and from so many hits among them it is. */
const SAMPLE = 1000;
const FREQUENT = 100;

/**
 * The condition that a row's text contains the term, in the form that is fast for it. From three
 * characters on the trigram index finds the rows. A shorter term has no trigram: if it is frequent, a
 * scan soon has enough rows; if not, or if there is none, only the index of pieces is quick.
 */
export const searchCondition = async (
  db: Db,
  table: Prisma.Sql,
  reached: Prisma.Sql,
  term: string,
): Promise<Prisma.Sql> => {
  const contains = sql`search_text LIKE tenant_crm.search_pattern(${term})`;
  if ([...term.normalize()].length > 2) return contains;
  const sample = await db.$queryRaw<{ hits: number }[]>`
    SELECT count(*)::int AS hits
    FROM (SELECT search_text FROM ${table} WHERE ${reached} LIMIT ${SAMPLE}) AS sample
    WHERE ${contains}`;
  if ((sample[0]?.hits ?? 0) >= FREQUENT) return contains;
  // Both: a single character may fold into more than two.
  return sql`${contains} AND tenant_crm.search_pieces(search_text)
    @> tenant_crm.search_pieces(tenant_crm.search_key(${term}))`;
};
