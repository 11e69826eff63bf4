import { freshDatabase } from '@tessera/local-stack';
import { columnTypes } from './column-types.ts';
import type { FairPool } from './fair-pool.ts';
import { jsonTypes } from './json-types.ts';
import { createPool } from './pool.ts';
import type { RowFormat } from './row-format.ts';
import { createTenantDb } from './tenant-db.ts';

const TENANT = '019aa0f5-0000-7000-8000-000000000001';
let pool: FairPool;

beforeAll(async () => {
  const { url } = await freshDatabase('empty', async () => {});
  pool = createPool(url, { applicationName: 'json-types-test', size: 2 });
});
afterAll(() => pool.end());

/** Texts with each character of ASCII, and with others that are special somewhere. */
const ascii = Array.from({ length: 127 }, (_, index) => String.fromCharCode(index + 1));
const others = ['\u0085', '\u00a0', '\u2028', '\u2029', '\ufeff', 'é', '漢', '😀'];
const words = ['', 'NULL', 'null', 'a "quoted" \\ text', '{"a":1}', "it's"];
const texts = [...words, ...ascii, ...others];

/** SQL expressions of every type that a column of a record may have, and some values. */
const values: Readonly<Record<string, readonly string[]>> = {
  bool: ['true', 'false'],
  int2: ['-32768', '7'],
  int4: ['-2147483648', '0'],
  int8: ['9007199254740991', '-1'],
  float8: ['0.1', '-1e300', "'NaN'", "'Infinity'"],
  numeric: ['12345678901234567890.10', "'NaN'"],
  uuid: [`'${TENANT}'`],
  date: ["'2026-03-01'", "'infinity'"],
  timestamptz: [
    "'2026-03-01T00:30:00.123Z'",
    "'2026-03-01T00:30:00.120Z'",
    "'2026-03-01T00:30:00Z'",
    "'2026-03-01T00:30:00.123456Z'",
    "'0044-03-15 00:00:00.123 BC'",
    "'12026-03-01T00:30:00.120Z'",
    "'-infinity'",
  ],
  'timestamptz[]': ["'{2026-03-01T00:30:00.123Z,NULL}'"],
  'date[]': ["'{2026-03-01,NULL}'"],
  jsonb: [`'{"b": [1, "two", null], "a": {"deep": "é"}}'`, "'[]'", "'null'", `'"text"'`],
  json: [`'{ "b" : 1 }'`],
  bytea: ["'\\x00ff'"],
};

const asTexts: RowFormat<readonly (string | null)[]> = {
  types: jsonTypes,
  rowOf: () => (row) => row as readonly (string | null)[],
};

/** The value of a statement's only column as JSON text, and as other rows have it. */
const read = async (text: string, parameters: unknown[] = []) => {
  const db = createTenantDb(pool, TENANT);
  const statement = { text, values: parameters };
  const [[json] = []] = await db.read(statement, { format: asTexts });
  const [row] = await db.read<{ readonly value: unknown }>(statement);
  return { json, value: row?.value };
};

describe('The JSON text of a value is that of the parsed value', () => {
  test.each(
    Object.entries(values).flatMap(([type, all]) => all.map((one) => [type, one] as const)),
  )('%s %s', async (type, literal) => {
    const { json, value } = await read(`SELECT (${literal})::${type} AS value`);
    expect(JSON.parse(json ?? '')).toEqual(JSON.parse(JSON.stringify(value)));
  });

  test.each(['text', 'varchar'])('every character of %s', async (type) => {
    for (const one of texts) {
      const { json } = await read(`SELECT $1::${type} AS value`, [one]);
      expect(json).toBe(JSON.stringify(one));
    }
  });

  test('every character of a text in an array', async () => {
    for (const one of texts) {
      const elements = ['vip', one, 'a b'];
      const { json } = await read('SELECT $1::text[] AS value', [elements]);
      expect(json).toBe(JSON.stringify(elements));
      const alone = await read('SELECT $1::text[] AS value', [[one]]);
      expect(alone.json).toBe(JSON.stringify([one]));
    }
  });

  test('arrays without elements, with null, and with several dimensions', async () => {
    for (const elements of [
      [],
      ['a', null],
      [
        ['a', 'b'],
        ['c', 'd,e'],
      ],
    ]) {
      const { json } = await read('SELECT $1::text[] AS value', [elements]);
      expect(json).toBe(JSON.stringify(elements));
    }
  });

  test('a null stays null', async () => {
    expect(await read('SELECT NULL::text AS value')).toEqual({ json: null, value: null });
  });

  test('and numbers keep digits that a JavaScript number cannot hold', async () => {
    const beyond = { text: 'SELECT 9007199254740993::int8 AS value', values: [] };
    const [row] = await createTenantDb(pool, TENANT).read(beyond, { format: asTexts });
    expect(row).toEqual(['9007199254740993']);
    expect(() => columnTypes.getTypeParser(20)('9007199254740993')).toThrow(RangeError);
  });
});

test('A format applies in transactions, in snapshots, and to statements that are planned once', async () => {
  const db = createTenantDb(pool, TENANT);
  const statement = { text: "SELECT 1 AS a, 'x' AS b", values: [] };
  const named: RowFormat<string> = {
    types: jsonTypes,
    rowOf: (columns) => (row) => columns.map((name, index) => `${name}:${row[index]}`).join(),
  };
  const options = { format: named };
  const all = await Promise.all([
    db.read(statement, options),
    db.read(statement, { ...options, planOnce: true }),
    db.read(statement, { ...options, byIndex: true }),
    db.transaction((inside) => inside.read(statement, options)),
    db.snapshot((inside) => inside.read(statement, options)),
  ]);
  expect(all).toEqual(Array.from({ length: 5 }, () => ['a:1,b:"x"']));
  expect(await db.read(statement)).toEqual([{ a: 1, b: 'x' }]);
});
