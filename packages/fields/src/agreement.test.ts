import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import fc from 'fast-check';
import {
  anything,
  bool,
  clamped,
  complete,
  date,
  domain,
  email,
  type Field,
  int,
  list,
  mapOf,
  matching,
  named,
  nullable,
  number,
  omittedIfBlank,
  oneOf,
  openShape,
  optional,
  partial,
  rawText,
  shape,
  tagList,
  tagText,
  text,
  time,
  timeZone,
  url,
  uuid,
  validate,
  withDefault,
} from './index.ts';

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true });
formats.default(ajv);

const Phone = named('Phone', shape({ kind: oneOf('work', 'home'), number: text(30) }));
const everyWord: Record<string, Field> = {
  text: text(5),
  rawText: rawText(5, 2),
  'rawText that may be empty': rawText(5, 0),
  matching: matching(/^[a-z]+$/, 'lower-case letters', 5),
  'matching, or nothing': matching(/^([a-z]+)?$/, 'lower-case letters', 5),
  email: email(),
  uuid: uuid(),
  int: int(1, 10),
  clamped: clamped(1, 10),
  number: number(0, 1),
  bool: bool(),
  oneOf: oneOf('a', 'b', 3),
  time: time(),
  date: date(),
  timeZone: timeZone(),
  url: url(60),
  list: list(text(3), { max: 2 }),
  'list of at least one unique item': list(int(0, 5), { min: 1, unique: true }),
  mapOf: mapOf(int(0, 5), 2),
  nullable: nullable(oneOf('a', 'b')),
  'nullable text': nullable(text(3)),
  'nullable named shape': nullable(Phone),
  shape: shape({ a: text(3), b: optional(int(0, 9)), c: withDefault(bool(), true) }),
  partial: partial(shape({ a: text(3), c: withDefault(bool(), true) })),
  complete: complete(shape({ a: optional(nullable(text(3))), c: withDefault(bool(), true) })),
  openShape: openShape({ a: text(3) }),
  'openShape that contains a strict shape': openShape({ inner: shape({ a: text(3) }) }),
  omittedIfBlank: shape({ a: omittedIfBlank(nullable(matching(/^b$/, 'b', 1))) }),
  anything: anything(),
  'nested shape': shape({ phones: list(Phone, { max: 2 }), at: optional(nullable(time())) }),
};

const samples: unknown[] = [
  '',
  ' ',
  'a',
  'ab',
  'abc',
  ' abc ',
  'abcdef',
  'a\0b',
  'ÁRV',
  '😀😀😀😀😀',
  '1',
  '2.5',
  'true',
  'null',
  'a@b.c',
  'ÁRVÍZ@példa.hu',
  'a@b',
  '@b.c',
  'a b@c.d',
  '01890a5d-ac96-774b-bcce-b302099a8057',
  '01890A5D-AC96-774B-BCCE-B302099A8057',
  '{01890a5d-ac96-774b-bcce-b302099a8057}',
  'UTC',
  'Europe/Budapest',
  'America/Argentina/Buenos_Aires',
  'Etc/GMT+10',
  'Asia/Calcutta',
  'America/Port-au-Prince',
  'US/East-Indiana',
  'CST6CDT',
  'GMT+0',
  'GB-Eire',
  'W-SU',
  'PST',
  '+02:00',
  'Europe/',
  'b.c',
  'példa.HU',
  'a.b.c:80',
  'https://b.c',
  '.c',
  'b.',
  'b..c',
  'a_b-c.d',
  'https://b.c',
  'http://b.c:8080/d?e=f&g=%20#h',
  'http://[::1]:3000/',
  'http://127.0.0.1',
  'http://a%zz',
  'http://[',
  'http://[::::]',
  'http://b.c/%zz',
  'http://b.c/ő',
  'HTTP://b.c',
  'http://u:p@b.c',
  'ftp://b.c',
  'javascript:alert(1)',
  'http://',
  'https:b.c',
  '//b.c',
  '/b',
  'http://b.c:70000',
  'http://1.2.3.4.5',
  'http://1.2.3.400',
  'http://b.c/a b',
  'http://b.c/|',
  'http://b.c/a#b#c',
  'http://b..c',
  'http://-b.c',
  `http://b.c/${'d'.repeat(60)}`,
  '2020-02-29',
  '2020-02-31',
  '2020-13-01',
  '2020',
  '20200101',
  '2020-01-01T10:00:00',
  '2020-02-29T10:00:00Z',
  '2020-02-31T10:00:00Z',
  '2020-01-01T24:00:00Z',
  '2020-01-01T10:00:00.123+02:00',
  '2020-01-01T10:00:00.1234567Z',
  '2020-01-01t10:00:00z',
  '2016-12-31T23:59:60Z',
  '2017-01-01T01:59:60.5+02:00',
  '2020-01-01T10:00:60Z',
  '2020-01-01T10:60:00Z',
  '2020-01-01T10:00:00+24:00',
  `2020-01-01T10:00:00.${'1'.repeat(20)}Z`,
  '2020-01-01T10:00:00.Z',
  '2020-01-01 10:00:00Z',
  0,
  1,
  -1,
  2.5,
  0.5,
  3,
  10,
  11,
  1e20,
  true,
  false,
  null,
  [],
  ['a'],
  ['a', 'b'],
  ['a', 'b', 'c'],
  [1],
  [1, 1],
  [null],
  {},
  { a: 'x' },
  { a: 1 },
  { a: null, c: true },
  { a: 'x', c: true },
  { a: 'x', c: null },
  { a: 'x', b: 1 },
  { a: 'x', b: '1' },
  { a: 'x', b: null },
  { a: 'x', c: false },
  { a: '' },
  { a: 'x', zzz: 1 },
  { x: 1, y: 2 },
  { x: 1, y: 2, z: 3 },
  { kind: 'work', number: '1' },
  { kind: 'q', number: '1' },
  { phones: [] },
  { phones: [{ kind: 'home', number: ' ' }] },
  { phones: [{ kind: 'home', number: '1' }], at: null },
  { phones: [], at: '2020-01-01T00:00:00Z' },
  { inner: { a: 'x' } },
  { inner: { a: 'x', b: 1 } },
  { inner: { a: 'x' }, b: 1 },
  { '': 1 },
  { a: 'x', constructor: 1 },
  { a: 'x', toString: null },
  { hasOwnProperty: 1 },
  ...['{"a":"x","__proto__":"y"}', '{"__proto__":{"a":"x"}}'].map((json) => JSON.parse(json)),
];

describe('Joi and the JSON Schema of a field agree', () => {
  test.each(Object.entries(everyWord))('%s', (_name, field) => {
    const bySchema = ajv.compile(field.json);
    for (const sample of samples) {
      expect({ sample, accepted: validate(field, sample).ok }).toEqual({
        sample,
        accepted: bySchema(sample),
      });
    }
  });

  test('on random JSON', () => {
    for (const field of Object.values(everyWord)) {
      const bySchema = ajv.compile(field.json);
      fc.assert(
        fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
          fc.pre(!/\\u0000|\\ud[89a-f]|__proto__/i.test(JSON.stringify(value)));
          return validate(field, value).ok === bySchema(value);
        }),
        { numRuns: 200 },
      );
    }
  });

  test('a schema that differs from the check is detected', () => {
    const misstated = { ...text(5), json: { type: 'string', maxLength: 4 } };
    const bySchema = ajv.compile(misstated.json);
    expect(samples.some((s) => validate(misstated, s).ok !== bySchema(s))).toBe(true);
  });
});

describe('What a field gives', () => {
  /** Letters that become longer when they are lowercased, composed, or converted as part of a domain. */
  const odd = [
    'İ',
    'ß',
    'ẞ',
    'Σ',
    '\u0958',
    'ﬁ',
    '﷽',
    '㋿',
    'e\u0301',
    'Å',
    '\u200d',
    'xn--',
    '１',
  ];
  const letter = fc.oneof(fc.constantFrom(...odd), fc.string({ minLength: 1, maxLength: 1 }));
  const word = fc.oneof(
    fc.array(letter, { minLength: 1, maxLength: 8 }).map((letters) => letters.join('')),
    fc
      .tuple(fc.constantFrom(...odd), fc.integer({ min: 20, max: 260 }))
      .map(([one, length]) => one.repeat(length)),
  );
  const domainLike = fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join('.'));
  const likely = fc.oneof(
    word,
    domainLike,
    fc.tuple(word, domainLike).map(([local, host]) => `${local}@${host}.hu`),
    fc.tuple(domainLike, word).map(([host, path]) => `https://${host}/${path}`),
    fc.constantFrom(...samples),
    fc.jsonValue({ noUnicodeString: false }),
  );

  // JSON Schema does not describe all of their rules.
  const ruled = { domain: domain(), tagText: tagText(5), tagList: tagList(tagText(3)) };

  test.each(Object.entries({ ...everyWord, ...ruled }))(
    'a validated %s is valid again, unchanged, and matches its JSON Schema',
    (_name, one) => {
      const bySchema = ajv.compile(one.json);
      fc.assert(
        fc.property(likely, (value) => {
          const first = validate(one, value);
          if (!first.ok) return;
          const given = JSON.parse(JSON.stringify(first.value ?? null));
          const again = validate(one, given);
          expect({ given, ok: again.ok, described: bySchema(given) }).toEqual({
            given,
            ok: true,
            described: true,
          });
          expect(JSON.stringify(again)).toBe(JSON.stringify(first));
        }),
        { numRuns: 2000 },
      );
    },
  );
});
