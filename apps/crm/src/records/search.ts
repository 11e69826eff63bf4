import type { TenantDb } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';

const { sql } = Prisma;

/** So many rows tell how frequent a term is, and from so many hits among them it is. */
const SAMPLE = 1000;
const FREQUENT = 100;

/** What the trigram index can find by: three letters or digits in a row. */
const TRIGRAM = /[\p{L}\p{N}]{3}/u;

/**
 * The condition that a row's text contains the term, in the form that is fast for it. Most terms have a
 * trigram, and its index finds the rows. Of those without ("me", "a@b", "--"), one that is frequent is
 * soon met often enough by looking at rows; for a rare one, or one that nothing has, there are the
 * pieces. LIKE would then be in the way: the trigram index would be read from end to end for it.
 */
export const searchCondition = async (
  db: TenantDb,
  table: Prisma.Sql,
  among: Prisma.Sql,
  term: string,
): Promise<Prisma.Sql> => {
  if (TRIGRAM.test(term.normalize())) {
    return sql`search_text LIKE tenant_crm.search_pattern(${term})`;
  }
  const contains = sql`strpos(search_text, tenant_crm.search_key(${term})) > 0`;
  const sample = await db.read<{ hits: number }>(sql`
    SELECT count(*)::int AS hits
    FROM (SELECT search_text FROM ${table} WHERE ${among} LIMIT ${SAMPLE}) AS sample
    WHERE ${contains}`);
  return (sample[0]?.hits ?? 0) >= FREQUENT
    ? contains
    : sql`${contains} AND tenant_crm.search_pieces(search_text) @> tenant_crm.term_pieces(${term})`;
};
