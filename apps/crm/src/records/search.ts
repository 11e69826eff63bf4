import { Prisma } from '../generated/prisma/client.ts';
import type { Db } from './model.ts';

const { sql } = Prisma;

/** So many rows tell how frequent a term is, and from so many hits among them it is. */
const SAMPLE = 1000;
const FREQUENT = 100;

/** What the trigram index can find by: three letters or digits in a row. */
const TRIGRAM = /[\p{L}\p{N}]{3}/u;

/**
 * The condition that a row's text contains the term, in the form that is fast for it. Most terms have a
 * trigram, and its index finds the rows. Of those without ("me", "a@b", "--"), one that is frequent is
 * soon found often enough by a scan; for a rare one, or one that nothing has, there are the pieces.
 */
export const searchCondition = async (
  db: Db,
  table: Prisma.Sql,
  reached: Prisma.Sql,
  term: string,
): Promise<Prisma.Sql> => {
  const contains = sql`search_text LIKE tenant_crm.search_pattern(${term})`;
  if (TRIGRAM.test(term.normalize())) return contains;
  const sample = await db.$queryRaw<{ hits: number }[]>`
    SELECT count(*)::int AS hits
    FROM (SELECT search_text FROM ${table} WHERE ${reached} LIMIT ${SAMPLE}) AS sample
    WHERE ${contains}`;
  if ((sample[0]?.hits ?? 0) >= FREQUENT) return contains;
  return sql`${contains} AND tenant_crm.search_pieces(search_text)
    @> tenant_crm.search_pieces(tenant_crm.search_key(${term}))`;
};
