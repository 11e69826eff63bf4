import { readable } from './readable.ts';

test('fields are lines, and what a field contains is indented below it', () => {
  const result = {
    user_id: '0198',
    deleted: true,
    gone: null,
    at: new Date(0),
    scopes: ['a', 'b'],
    none: [],
    empty: {},
    replaced: { contacts: 2, more: { deals: 1 } },
    tables: [
      { name: 'contacts', rows: 3 },
      { name: 'deals', rows: 10, note: 'late' },
    ],
  };
  expect(readable(result)).toBe(`user_id: 0198
deleted: yes
gone: -
at: 1970-01-01T00:00:00.000Z
scopes: a b
none: -
empty: -
replaced:
  contacts: 2
  more:
    deals: 1
tables:
  name      rows  note
  contacts  3     -
  deals     10    late`);
});

test('a list is a table, in which nested values are JSON', () => {
  const rows = [
    { id: 'a', uris: ['x', 'y'], last: { code: 451 }, at: new Date(0) },
    { id: 'bc', uris: [], last: null, at: null },
  ];
  expect(readable(rows)).toBe(`id  uris  last          at
a   x y   {"code":451}  1970-01-01T00:00:00.000Z
bc        -             -`);
  expect(readable([])).toBe('There are none.');
  expect(readable(['a', 'b'])).toBe('a\nb');
});
