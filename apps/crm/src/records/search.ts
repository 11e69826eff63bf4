import { LRUCache } from 'lru-cache';
import type { TenantDb } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { listKey } from './listing.ts';

const { sql } = Prisma;

/** A term is frequent if at least `FREQUENT` of the first `SAMPLE` rows contain it. */
const SAMPLE = 200;
const FREQUENT = 20;

/** What the trigram index can find: three consecutive letters or digits. */
const TRIGRAM = /[\p{L}\p{N}]{3}/u;

/** Two letters or digits: texts in ASCII have no piece for them. */
const WORD_PAIR = /^[a-z0-9]{2}$/;

/** In a regular expression of PostgreSQL. */
const ANY_ASCII = String.raw`[\x01-\x7f]`;

interface Sample {
  readonly hits: number;
  /** The folded term. */
  readonly key: string;
  readonly has_pieces: boolean;
}

/** How long a sample is used, in milliseconds. An outdated sample can make a search slower, but not wrong. */
const SAMPLED_FOR_MS = 60_000;

/** Recently read samples. While people type, the same first letters are searched again and again. */
const samples = new LRUCache<string, Sample>({ max: 5000, ttl: SAMPLED_FOR_MS });
/** Longer keys have filters that are hardly repeated. */
const MAX_KEY_LENGTH = 2000;

/** The rows that are searched. */
interface Searched {
  readonly table: Prisma.Sql;
  /** The condition for them. */
  readonly among: Prisma.Sql;
}

const sampleOf = async (
  db: TenantDb,
  { table, among }: Searched,
  term: string,
  contains: Prisma.Sql,
): Promise<Sample | undefined> => {
  const key = `${listKey(db, { table }, among)} ${term}`;
  const known = samples.get(key);
  if (known) return known;
  const [sample] = await db.read<Sample>(sql`
    SELECT count(*) FILTER (WHERE ${contains})::int AS hits, tenant_crm.search_key(${term}) AS key,
      tenant_crm.term_pieces(${term}) <> '{}' AS has_pieces
    FROM (SELECT search_text FROM ${table} WHERE ${among} LIMIT ${SAMPLE}) AS sample`);
  if (sample && key.length <= MAX_KEY_LENGTH) samples.set(key, sample);
  return sample;
};

/**
 * Rows with two letters or digits: the trigram index finds them in front of each character of ASCII, and at the end of
 * the text; the index of pieces finds them in texts with other characters.
 */
const containsPair = (term: string, key: string): Prisma.Sql => sql`(
  search_text ~ ${`${key}${ANY_ASCII}`} OR search_text LIKE ${`%${key}`}
  OR tenant_crm.search_pieces(search_text) @> tenant_crm.term_pairs(${term})
)`;

/**
 * The fastest condition for rows whose text contains the term. Most terms contain a trigram, and the trigram
 * index finds their rows. For terms without one ("me", "a@b", "--"): if the term is frequent, comparing rows in
 * list order finds enough hits soon; if it is rare or does not occur, the indexes of trigrams and pieces find them,
 * except for a digit and letters that most texts contain. These use `strpos`, since for LIKE the planner would read
 * the whole trigram index.
 */
const textCondition = async (db: TenantDb, rows: Searched, term: string): Promise<Prisma.Sql> => {
  const matches = sql`search_text LIKE tenant_crm.search_pattern(${term})`;
  if (TRIGRAM.test(term.normalize())) return matches;
  const contains = sql`strpos(search_text, tenant_crm.search_key(${term})) > 0`;
  const sample = await sampleOf(db, rows, term, contains);
  if (!sample || sample.hits >= FREQUENT) return contains;
  if (WORD_PAIR.test(sample.key)) return sql`${contains} AND ${containsPair(term, sample.key)}`;
  // Folding may make three letters of two: "uß".
  if (TRIGRAM.test(sample.key)) return matches;
  if (!sample.has_pieces) return contains;
  return sql`${contains} AND tenant_crm.search_pieces(search_text) @> tenant_crm.term_pieces(${term})`;
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
  rows: Searched,
  term: string,
  alsoSearched: AlsoSearched | undefined,
): Promise<Prisma.Sql> => {
  const found = await textCondition(db, rows, term);
  const also = alsoSearched?.condition(db, term);
  return also ? sql`((${found}) OR ${also})` : found;
};
