import {
  anything,
  clamped,
  domain,
  email,
  type Field,
  fieldErrors,
  int,
  list,
  matching,
  named,
  nullable,
  type Out,
  oneOf,
  openShape,
  optional,
  partial,
  shape,
  text,
  time,
  timeZone,
  validate,
  withDefault,
  withRule,
} from './index.ts';

const Phone = named('Phone', shape({ kind: oneOf('work', 'home'), number: text(30) }));

/** Names that stay valid after a zone was renamed or merged, and some that are current. */
const formerTimeZones = (
  'Europe/Kiev Europe/Kyiv US/Eastern US/East-Indiana Asia/Calcutta Asia/Kolkata ' +
  'Asia/Katmandu America/Buenos_Aires America/Port-au-Prince ' +
  'America/Argentina/ComodRivadavia America/North_Dakota/New_Salem ' +
  'Antarctica/DumontDUrville Brazil/East Canada/Pacific Chile/EasterIsland Mexico/BajaSur ' +
  'UTC GMT GMT0 GMT+0 GMT-0 Etc/UTC Etc/GMT+5 Etc/GMT-14 Etc/GMT0 Etc/Greenwich UCT Zulu ' +
  'Universal Greenwich CET CST6CDT EET EST EST5EDT HST MET MST MST7MDT PST8PDT WET Cuba ' +
  'Egypt Eire GB GB-Eire Hongkong Iceland Iran Israel Jamaica Japan Kwajalein Libya NZ ' +
  'NZ-CHAT Navajo PRC Poland Portugal ROC ROK Singapore Turkey W-SU'
).split(' ');

describe('validate', () => {
  const Contact = shape({
    name: text(10),
    kind: oneOf('person', 'lead'),
    phones: withDefault(list(Phone), []),
  });

  test('reports all invalid fields at once, by path', () => {
    const result = validate(Contact, { kind: 'x', phones: [{ kind: 'work' }], zzz: 1 });
    expect(result).toEqual({
      ok: false,
      errors: {
        name: ['name is required'],
        kind: ['kind must be one of [person, lead]'],
        'phones.0.number': ['phones.0.number is required'],
        zzz: ['zzz is not allowed'],
      },
    });
  });

  test('reports a missing body and a body of the wrong type', () => {
    expect(validate(Contact, undefined)).toMatchObject({ errors: { body: ['body is required'] } });
    expect(validate(Contact, '{"name":"x"}')).toMatchObject({
      ok: false,
      errors: { body: [expect.any(String)] },
    });
  });

  test.each([
    ['\u200b Ada\ufeff\u00ad', 'Ada'],
    ['\u202aAda Ada\u202c\n', 'Ada Ada'],
    ['\u3164Ada\u2800', 'Ada'],
    ['I ❤️', 'I ❤️'],
    ['👩‍💻', '👩‍💻'],
    ['🏴\u{e0067}\u{e0062}\u{e007f}', '🏴\u{e0067}\u{e0062}\u{e007f}'],
  ])('removes what nobody sees around a text: %j', (given, name) => {
    expect(validate(Contact, { name: given, kind: 'lead' })).toMatchObject({ value: { name } });
  });

  test.each(['\u200b', '\u3164\u2800', '\u2060\ufe0f ', '\u{e0067}\u{e007f}', '\ufe0f'])(
    'takes a text of invisible characters for empty: %j',
    (name) => {
      expect(validate(Contact, { name, kind: 'lead' })).toMatchObject({
        errors: { name: ['name is not allowed to be empty'] },
      });
    },
  );

  test.each(['a\0b', 'a\ud800b'])('rejects text that PostgreSQL cannot store: %j', (value) => {
    expect(validate(Contact, { name: value, kind: 'lead' })).toMatchObject({
      errors: { name: ['name must not contain NUL or unpaired surrogates'] },
    });
  });

  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    'rejects an unknown field called %s like any other',
    (name) => {
      const given = JSON.parse(`{"name":"a","kind":"lead","${name}":{"x":1}}`);
      const result = validate(Contact, given);
      expect(result.ok ? [] : Object.entries(result.errors)).toEqual([
        [name, [`${name} is not allowed`]],
      ]);
      expect(({} as { x?: number }).x).toBeUndefined();
    },
  );

  test('distinguishes a field called value, a list item and the whole value in errors', () => {
    const errorsOf = (field: Field, value: unknown) => ({ ...validate(field, value) });
    expect(errorsOf(shape({ value: text(5) }), {})).toMatchObject({
      errors: { value: ['value is required'] },
    });
    expect(errorsOf(shape({ tags: list(text(5)) }), { tags: ['a', 1] })).toMatchObject({
      errors: { 'tags.1': ['tags.1 must be a string'] },
    });
    expect(errorsOf(int(0, 9), 'x')).toMatchObject({
      errors: { body: ['body must be an integer'] },
    });
  });

  test('reports only the first error of a huge input, without delay', () => {
    const Tagged = shape({ tags: list(shape({ a: text(3) }), { max: 1_000_000 }) });
    const tooMany = { tags: Array.from({ length: 200_000 }, () => ({ b: 1 })) };
    const result = validate(Tagged, tooMany);
    expect(result.ok ? [] : Object.keys(result.errors)).toEqual(['tags.0.a']);
  });

  test('does not validate the items of a list that is too long', () => {
    const result = validate(shape({ tags: list(text(3)) }), { tags: Array(100_000).fill(1) });
    expect(result.ok ? [] : Object.keys(result.errors)).toEqual(['tags']);
  });

  test('rejects arbitrary JSON that cannot be stored', () => {
    let deep: unknown = 'x';
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    for (const value of [deep, 'a\0', { a: ['\ud800'] }, { 'a\0': 1 }]) {
      expect(validate(anything(), value).ok).toBe(false);
    }
    expect(validate(anything(), { a: [1, null, 'x', { b: true }] }).ok).toBe(true);
  });

  test.each(['0001-01-01T00:00:00+10:00', '9999-12-31T23:00:00-10:00', '2020-01-01T24:00:00Z'])(
    'rejects the time %s, which cannot be stored and displayed',
    (value) => {
      expect(validate(time(), value).ok).toBe(false);
    },
  );

  test.each(['a,victim@b.hu', 'a<victim@b.hu>', '"a b"@c.hu', 'a@b.hu\r\nBcc: c@d.hu'])(
    'rejects %j, which would not reach the address that it resembles',
    (value) => {
      expect(validate(email(), value).ok).toBe(false);
    },
  );

  test.each([
    ['Ada@Example.COM', 'ada@example.com'],
    ['jose\u0301@example.com', 'jos\u00e9@example.com'],
    ['ÁRVÍZ@Bücher.DE', 'árvíz@bücher.de'],
    ['ada@xn--bcher-kva.de', 'ada@bücher.de'],
    ['ada@exa_mple.com', 'ada@exa_mple.com'],
  ])('%j is the same address as %j', (value, canonical) => {
    expect(validate(email(), value)).toEqual({ ok: true, value: canonical });
    expect(validate(email(), canonical)).toEqual({ ok: true, value: canonical });
  });

  test.each([
    'x@evil.test＠example.test',
    'x＠evil.test@example.test',
    'x@xn--a',
    'x@xn--a.test',
    'x@xn--.test',
    'x@b\u00fccher.xn--zzzzzz',
    `x@${'a'.repeat(64)}.test`,
    `x@${'ä'.repeat(60)}.test`,
    `x@${'a.'.repeat(126)}test`,
    `x@${`${'ä'.repeat(40)}.`.repeat(6)}test`,
    'x@a..test',
    'x@a。。test',
    'x@.test',
    'x@test.',
    'x@test。',
    'x@-a.test',
    'x@a-.test',
    'x@a%2eb.test',
    'x@evil.test/a.test',
    'x@evil.test?a.test',
    'x@evil.test#a.test',
    'x@evil.test/.example.test',
    'x@a!b.test',
    'x@a\u200db.test',
    'x@\u0300a.test',
    'x@1.2.3.4',
    'x@example.1',
    'x\u202ey@example.test',
    'x\u200by@example.test',
    'x y@example.test',
  ])(
    'rejects the address %j, whose domain cannot exist or which resembles another one',
    (value) => {
      expect(validate(email(), value).ok).toBe(false);
      const [, host = ''] = /@(.*)$/u.exec(value) ?? [];
      if (!/^(evil|example)\.test$/.test(host)) expect(validate(domain(), host).ok).toBe(false);
    },
  );

  test.each([' ', '\t', '\r\n', '\u00a0', '\u3000', '\ufeff', ' \n \u2003'])(
    'removes %j around an address',
    (blank) => {
      for (const value of [`${blank}Ada@B.hu`, `Ada@B.hu${blank}`, `${blank}Ada@B.hu${blank}`]) {
        expect(validate(email(), value)).toEqual({ ok: true, value: 'ada@b.hu' });
      }
    },
  );

  test.each([
    ['XN--Bcher-KVA.de', 'bücher.de'],
    ['BÜCHER.de', 'bücher.de'],
    ['bu\u0308cher.de', 'bücher.de'],
    ['straße.de', 'straße.de'],
    ['пример.рф', 'пример.рф'],
    ['例え.テスト', '例え.テスト'],
    ['r3---sn.example', 'r3---sn.example'],
  ])('%j is the same domain as %j', (value, canonical) => {
    expect(validate(domain(), value)).toEqual({ ok: true, value: canonical });
    expect(validate(email(), `a@${value}`)).toEqual({ ok: true, value: `a@${canonical}` });
  });

  test('accepts each name of the time zone database as it is written', () => {
    const names = [...Intl.supportedValuesOf('timeZone'), ...formerTimeZones];
    for (const name of names) expect(validate(timeZone(), name)).toEqual({ ok: true, value: name });
  });

  test.each([
    '',
    'Mars/Olympus',
    'europe/budapest',
    'PST',
    '+02:00',
    'UTC+2',
    'Factory',
    ' UTC',
    'GMT+1',
  ])('rejects the time zone %j', (name) => {
    expect(validate(timeZone(), name).ok).toBe(false);
  });

  test('trims text, lowercases addresses, parses times and fills in defaults', () => {
    const S = shape({ n: text(9), e: email(), t: time(), d: withDefault(int(0, 9), 3) });
    expect(validate(S, { n: ' a ', e: 'A@B.Hu', t: '2020-01-01T00:00:00+01:00' })).toEqual({
      ok: true,
      value: { n: 'a', e: 'a@b.hu', t: new Date('2019-12-31T23:00:00Z'), d: 3 },
    });
  });

  test('sets a clamped number to its nearest bound', () => {
    expect([-5, 5, 1e20].map((n) => validate(clamped(1, 100), n))).toEqual([
      { ok: true, value: 1 },
      { ok: true, value: 5 },
      { ok: true, value: 100 },
    ]);
  });

  test('an open shape drops unknown fields', () => {
    const given = JSON.parse('{"a":"x","b":1,"__proto__":{"c":1}}');
    expect(validate(openShape({ a: text(3) }), given)).toEqual({ ok: true, value: { a: 'x' } });
  });
});

test('a custom rule reports its own message together with all other errors', () => {
  const even = withRule(text(9), (value) =>
    value.length % 2 === 0 ? undefined : `has {{#odd}} ${value}`,
  );
  expect(validate(shape({ a: even, b: int(0, 1) }), { a: 'abc', b: 7 })).toEqual({
    ok: false,
    errors: { a: ['a has {{#odd}} abc'], b: ['b must be less than or equal to 1'] },
  });
  expect(validate(shape({ a: even }), { a: 'ab' })).toEqual({ ok: true, value: { a: 'ab' } });
});

test('a pattern with a flag that JSON Schema cannot express is rejected', () => {
  expect(() => matching(/^a$/i, 'an a', 5)).toThrow('flags');
});

test('TypeScript types follow the declaration', () => {
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

test.each([
  ['2020-01-01t10:00:00z', '2020-01-01T10:00:00.000Z'],
  ['2020-01-01T12:00:00.1239999999999999+02:00', '2020-01-01T10:00:00.123Z'],
  ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z'],
  ['2017-01-01T01:59:60.7+02:00', '2017-01-01T00:00:00.000Z'],
])('parses the RFC 3339 time %s to UTC with milliseconds', (given, kept) => {
  const read = validate(time(), given);
  expect(read.ok && read.value.toISOString()).toBe(kept);
});

test('truncates overlong names in errors', () => {
  const read = validate(shape({}), { ['x'.repeat(5000)]: 1, '': 2 });
  if (read.ok) throw new Error('It was taken.');
  const errors = JSON.parse(JSON.stringify(read.errors));
  expect(Object.keys(errors).map((name) => name.length)).toEqual([201, 0]);
  expect(validate(fieldErrors(), errors).ok).toBe(true);
});
