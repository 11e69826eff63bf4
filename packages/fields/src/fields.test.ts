import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import fc from 'fast-check';
import {
  bool,
  clamped,
  date,
  email,
  type Field,
  int,
  list,
  mapOf,
  matching,
  named,
  nullable,
  number,
  type Out,
  oneOf,
  openShape,
  optional,
  partial,
  readTexts,
  shape,
  text,
  time,
  uuid,
  validate,
  verbatim,
  withDefault,
} from './index.ts';

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true });
formats.default(ajv);

const Phone = named('Phone', shape({ kind: oneOf('work', 'home'), number: text(30) }));
const everyWord: Record<string, Field> = {
  text: text(5),
  verbatim: verbatim(5, 2),
  'verbatim, may be empty': verbatim(5, 0),
  matching: matching(/^[a-z]+$/, 'lower-case letters', 5),
  email: email(),
  uuid: uuid(),
  int: int(1, 10),
  clamped: clamped(1, 10),
  number: number(0, 1),
  bool: bool(),
  oneOf: oneOf('a', 'b', 3),
  time: time(),
  date: date(),
  list: list(text(3), { max: 2 }),
  'list of at least one, no twins': list(int(0, 5), { min: 1, unique: true }),
  mapOf: mapOf(int(0, 5), 2),
  nullable: nullable(oneOf('a', 'b')),
  'nullable text': nullable(text(3)),
  'nullable named shape': nullable(Phone),
  shape: shape({ a: text(3), b: optional(int(0, 9)), c: withDefault(bool(), true) }),
  partial: partial(shape({ a: text(3), c: withDefault(bool(), true) })),
  openShape: openShape({ a: text(3) }),
  'nested shape': shape({ phones: list(Phone, { max: 2 }), at: optional(nullable(time())) }),
};

const samples: unknown[] = [
  ...[
    '',
    ' ',
    'a',
    'ab',
    'abc',
    ' abc ',
    'abcdef',
    'ÁRV',
    '😀😀😀😀😀',
    '1',
    '2.5',
    'true',
    'null',
  ],
  ...['a@b.c', 'ÁRVÍZ@példa.hu', 'a@b', '@b.c', 'a b@c.d', '01890a5d-ac96-774b-bcce-b302099a8057'],
  ...['01890A5D-AC96-774B-BCCE-B302099A8057', '{01890a5d-ac96-774b-bcce-b302099a8057}'],
  ...['2020-02-29', '2020-02-31', '2020-13-01', '2020', '20200101', '2020-01-01T10:00:00'],
  ...['2020-02-29T10:00:00Z', '2020-02-31T10:00:00Z', '2020-01-01T25:00:00Z'],
  ...['2020-01-01T10:00:00.123+02:00', '2020-01-01T10:00:00.1234567Z'],
  ...[0, 1, -1, 2.5, 0.5, 3, 10, 11, 1e20, true, false, null],
  ...[[], ['a'], ['a', 'b'], ['a', 'b', 'c'], [1], [1, 1], [null], {}, { a: 'x' }, { a: 1 }],
  ...[{ a: 'x', b: 1 }, { a: 'x', b: '1' }, { a: 'x', b: null }, { a: 'x', c: false }, { a: '' }],
  ...[
    { a: 'x', zzz: 1 },
    { x: 1, y: 2 },
    { x: 1, y: 2, z: 3 },
    { kind: 'work', number: '1' },
  ],
  ...[{ kind: 'q', number: '1' }, { phones: [] }, { phones: [{ kind: 'home', number: ' ' }] }],
  { phones: [{ kind: 'home', number: '1' }], at: null },
  { phones: [], at: '2020-01-01T00:00:00Z' },
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

  test('on any JSON that a generator can think of', () => {
    for (const field of Object.values(everyWord)) {
      const bySchema = ajv.compile(field.json);
      fc.assert(
        fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
          fc.pre(!/\\u0000|\\ud[89a-f]/i.test(JSON.stringify(value)));
          return validate(field, value).ok === bySchema(value);
        }),
        { numRuns: 200 },
      );
    }
  });

  test('a schema that misstates its check is noticed', () => {
    const misstated = { ...text(5), json: { type: 'string', maxLength: 4 } };
    const bySchema = ajv.compile(misstated.json);
    expect(samples.some((s) => validate(misstated, s).ok !== bySchema(s))).toBe(true);
  });
});

describe('validate', () => {
  const Contact = shape({
    name: text(10),
    kind: oneOf('person', 'lead'),
    phones: withDefault(list(Phone), []),
  });

  test('names every failing field at once, by its path', () => {
    const result = validate(Contact, { kind: 'x', phones: [{ kind: 'work' }], zzz: 1 });
    expect(result).toEqual({
      ok: false,
      errors: {
        name: ['name is required'],
        kind: ['kind must be one of [person, lead]'],
        'phones.0.number': ['number is required'],
        zzz: ['zzz is not allowed'],
      },
    });
  });

  test('an absent body is told, and a value of the wrong type is named body', () => {
    expect(validate(Contact, undefined)).toMatchObject({ errors: { body: ['body is required'] } });
    expect(validate(Contact, '{"name":"x"}')).toMatchObject({
      ok: false,
      errors: { body: [expect.any(String)] },
    });
  });

  test.each(['a\0b', 'a\ud800b'])('refuses text that no database stores: %j', (value) => {
    expect(validate(Contact, { name: value, kind: 'lead' })).toMatchObject({
      errors: { name: ['name must not contain NUL or unpaired surrogates'] },
    });
  });

  test('a key called __proto__ is refused and changes nothing', () => {
    const result = validate(Contact, JSON.parse('{"name":"a","kind":"lead","__proto__":{"x":1}}'));
    expect(result.ok && (result.value as { x?: number }).x).toBeFalsy();
    expect(({} as { x?: number }).x).toBeUndefined();
  });

  test('trims text, lowers addresses, reads times, fills defaults', () => {
    const S = shape({ n: text(9), e: email(), t: time(), d: withDefault(int(0, 9), 3) });
    expect(validate(S, { n: ' a ', e: 'A@B.Hu', t: '2020-01-01T00:00:00+01:00' })).toEqual({
      ok: true,
      value: { n: 'a', e: 'a@b.hu', t: new Date('2019-12-31T23:00:00Z'), d: 3 },
    });
  });

  test('moves a clamped number to its bounds', () => {
    expect([-5, 5, 1e20].map((n) => validate(clamped(1, 100), n))).toEqual([
      { ok: true, value: 1 },
      { ok: true, value: 5 },
      { ok: true, value: 100 },
    ]);
  });

  test('an open shape drops what it does not know', () => {
    expect(validate(openShape({ a: text(3) }), { a: 'x', b: 1 })).toEqual({
      ok: true,
      value: { a: 'x' },
    });
  });
});

describe('readTexts', () => {
  const Query = shape({
    page: withDefault(int(1, 9), 1),
    all: optional(bool()),
    q: optional(text(9)),
  });

  test('reads numbers and booleans where the shape has them, and nothing else', () => {
    expect(readTexts(Query, { page: '2', all: 'true', q: '7' })).toEqual({
      page: 2,
      all: true,
      q: '7',
    });
  });

  test.each(['two', '1e3', '0x1', '', ' 1', ['1', '2']])(
    'leaves %j to fail by its name',
    (page) => {
      expect(validate(Query, readTexts(Query, { page }))).toMatchObject({
        errors: { page: [expect.any(String)] },
      });
    },
  );
});

test('types follow the declaration', () => {
  const S = shape({
    name: text(9),
    kind: oneOf('person', 'lead'),
    note: optional(nullable(text(9))),
    at: withDefault(time(), new Date(0)),
  });
  const whole: Out<typeof S> = { name: 'a', kind: 'lead', at: new Date() };
  // @ts-expect-error kind is missing
  const missing: Out<typeof S> = { name: 'a', at: new Date() };
  // @ts-expect-error not in the closed set
  const wrong: Out<typeof S> = { name: 'a', kind: 'x', at: new Date() };
  const changes = partial(S);
  const none: Out<typeof changes> = {};
  expect([whole, missing, wrong, none]).toHaveLength(4);
  expect(validate(changes, {})).toEqual({ ok: true, value: {} });
});
