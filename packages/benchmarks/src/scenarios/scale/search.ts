import type { ScaleBench, ScaleScenario, ScaleTenant } from '../../scale/bench.ts';
import { besideSql, type ListCase } from '../../scale/comparison.ts';
import { newestOfFew, newestOfMany } from './list-sql.ts';
import { COUNTED, companies, contacts, type Table } from './table.ts';

/** Words of a table's records: from names of people and of companies. */
const words = {
  contacts: 'last_name',
  companies: "split_part(name, ' ', 1)",
} as const;

/** A word of letters, and the number of records that have it as a name. */
interface Word {
  readonly word: string;
  readonly hits: number;
}

/** The names of letters only in a tenant, frequent ones first. */
const namesIn = async (
  { database }: ScaleBench,
  { name }: Table,
  { tenantId }: ScaleTenant,
): Promise<readonly Word[]> => {
  const { rows } = await database.query<Word>(
    `SELECT tenant_crm.search_key(${words[name]}) AS word, count(*)::int AS hits
     FROM tenant_crm.${name}
     WHERE tenant_id = $1 AND deleted_at IS NULL AND ${words[name]} ~ '^[[:alpha:]]{5,}$'
     GROUP BY word ORDER BY hits DESC, word`,
    [tenantId],
  );
  return rows;
};

/** The most records that have a rare word. */
const RARE = 30;

/** The most frequent of the rare words, or the rarest. */
const rareWord = (found: readonly Word[]): string =>
  (found.find(({ hits }) => hits <= RARE) ?? found.at(-1))?.word ?? '';

/** How often a text occurs among a tenant's records. */
const countHits = async (
  { database }: ScaleBench,
  { name }: Table,
  { tenantId }: ScaleTenant,
  text: string,
): Promise<number> => {
  const { rows } = await database.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM tenant_crm.${name}
     WHERE tenant_id = $1 AND deleted_at IS NULL AND strpos(search_text, $2) > 0`,
    [tenantId, text],
  );
  return rows[0]?.count ?? 0;
};

const TRIGRAMS = 'search_text LIKE tenant_crm.search_pattern($2)';
const STRPOS = 'strpos(search_text, tenant_crm.search_key($2)) > 0';
const PIECES = `${STRPOS} AND tenant_crm.search_pieces(search_text) @> tenant_crm.term_pieces($2)`;
const PAIR = String.raw`${STRPOS} AND (
  search_text ~ ($2 || '[\x01-\x7f]') OR search_text LIKE '%' || $2
  OR tenant_crm.search_pieces(search_text) @> tenant_crm.term_pairs($2))`;

/** Terms, the same ones for every table. */
const FREQUENT_LETTERS = 'an';
const RARE_LETTERS = 'qz';
const NO_MATCH = 'zzyzxq';
const NO_MATCH_CHARACTERS = '#~';

const searches = async (
  bench: ScaleBench,
  table: Table,
  tenant: ScaleTenant,
): Promise<readonly ListCase[]> => {
  const found = await namesIn(bench, table, tenant);
  const foundInReference = await namesIn(bench, table, bench.reference);
  const of = async (
    what: string,
    term: string,
    more: Partial<ListCase> = {},
  ): Promise<ListCase> => {
    const hits = await countHits(bench, table, tenant, term);
    const isShort = term.length < 3;
    const few = term === NO_MATCH_CHARACTERS ? PIECES : PAIR;
    const values = [tenant.tenantId, term];
    const path = `${table.name}?search=${encodeURIComponent(term)}`;
    return {
      what: `${table.name}, search for ${what} (${hits.toLocaleString('en')} hits)`,
      tenant,
      path,
      referencePath: path,
      statement:
        hits > COUNTED
          ? newestOfMany(table, isShort ? STRPOS : TRIGRAMS, values)
          : newestOfFew(table, isShort ? few : TRIGRAMS, values),
      ...more,
    };
  };
  const rareInReference = rareWord(foundInReference);
  return [
    await of('a rare word', rareWord(found), {
      isBounded: true,
      referencePath: `${table.name}?search=${encodeURIComponent(rareInReference)}`,
    }),
    await of('a frequent word', found[0]?.word ?? ''),
    await of('a word in most', 'example'),
    await of('two letters', FREQUENT_LETTERS),
    await of('two rare letters', RARE_LETTERS),
    await of('two characters without a match', NO_MATCH_CHARACTERS),
    await of('a word without a match', NO_MATCH),
  ];
};

/** The same in a small tenant: a rare and a frequent word. */
const inSmallTenant = async (bench: ScaleBench): Promise<readonly ListCase[]> => {
  const { small } = bench;
  const found = await namesIn(bench, contacts, small);
  const of = (what: string, term: string): ListCase => ({
    what: `contacts, search for ${what} in a small tenant`,
    tenant: small,
    path: `contacts?search=${encodeURIComponent(term)}`,
    statement: newestOfFew(contacts, TRIGRAMS, [small.tenantId, term]),
  });
  return [of('a rare word', rareWord(found)), of('a word in most', 'example')];
};

export const searchScenario: ScaleScenario = {
  name: 'search',
  run: async (bench) =>
    besideSql(bench, [
      ...(await searches(bench, contacts, bench.large)),
      ...(await searches(bench, companies, bench.large)),
      ...(await inSmallTenant(bench)),
    ]),
};
