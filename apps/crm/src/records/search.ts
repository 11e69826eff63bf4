import type { TenantDb } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';

const { sql } = Prisma;

/** A term is frequent if at least `FREQUENT` of the first `SAMPLE` rows contain it. */
const SAMPLE = 200;
const FREQUENT = 20;

/** What the trigram index can find: three consecutive letters or digits. */
const TRIGRAM = /[\p{L}\p{N}]{3}/u;

/**
 * The fastest condition for rows whose text contains the term. Most terms contain a trigram, and the trigram
 * index finds their rows. For terms without one ("me", "a@b", "--"): if the term is frequent, comparing rows in
 * list order finds enough hits soon; if it is rare or does not occur, the index of pieces finds them. These use
 * `strpos`, since for LIKE the planner would read the whole trigram index.
 */
const textCondition = async (
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

/** A search outside of the `search_text` of a kind. */
export interface AlsoSearched {
  /** For the OpenAPI document: a sentence. */
  readonly description: string;
  /** The rows that the term finds, by an index; undefined if the term has nothing to search for. */
  condition(db: TenantDb, term: string): Prisma.Sql | undefined;
}

/** The condition for rows that a search finds, in `search_text` and elsewhere. */
export const searchCondition = async (
  db: TenantDb,
  rows: { readonly table: Prisma.Sql; readonly among: Prisma.Sql },
  term: string,
  alsoSearched: AlsoSearched | undefined,
): Promise<Prisma.Sql> => {
  const found = await textCondition(db, rows.table, rows.among, term);
  const also = alsoSearched?.condition(db, term);
  return also ? sql`((${found}) OR ${also})` : found;
};
