import { Readable } from 'node:stream';
import { anything, bool, int, oneOf, shape, text, time } from '@tessera/fields';
import request from 'supertest';
import { exportFormat, exportHeaders, type ListEnvelope, listExports } from '../index.ts';
import { appOf, route } from '../testing/things.ts';
import { readInBatches } from './batches.ts';

const Task = shape({
  name: text(20),
  at: time(),
  hours: int(-9, 9),
  done: bool(),
  tags: anything(),
});
const tasks = [
  { name: 'Ann "A"', at: new Date(0), hours: -2, done: true, tags: ['a', 'b'], secret: 1 },
  { name: '=1+1', at: new Date(1), hours: 0, done: false, tags: null, secret: 2 },
  { name: '@x', at: new Date(2), hours: 3, done: false, tags: { a: 1 }, secret: 3 },
];
const answered = tasks.map(({ secret, ...task }) => ({ ...task, at: task.at.toISOString() }));

const bare: ListEnvelope = { shape: (data) => shape({ data }), members: {} };
const withSuccess: ListEnvelope = {
  shape: (data) => shape({ success: oneOf(true), data }),
  members: { success: true },
};

const appWith = (envelope: ListEnvelope, rows: readonly object[], columns?: readonly string[]) => {
  const exported = listExports(envelope)({
    name: 'tasks',
    item: Task,
    ...(columns && { columns }),
  });
  const read = async (last: object | undefined, limit: number) => {
    const next = last === undefined ? 0 : rows.indexOf(last) + 1;
    return rows.slice(next, next + limit);
  };
  return appOf({
    Export: {
      exportTasks: route({
        method: 'get',
        path: '/export',
        permission: 'public',
        summary: 'Export',
        query: shape({ format: exportFormat }),
        responses: { 200: exported.response },
        responseHeaders: exportHeaders,
        handler: ({ query, reply }) =>
          reply(200, ...exported.file(query.format, readInBatches(2, read))),
      }),
    },
  });
};

test('a list is exported as CSV in which no text is evaluated as a formula', async () => {
  const answer = await request(appWith(bare, tasks)).get('/export').expect(200);
  expect(answer.headers['content-type']).toBe('text/csv; charset=utf-8');
  expect(answer.headers['content-disposition']).toBe('attachment; filename="tasks.csv"');
  expect(answer.text.split('\r\n')).toEqual([
    'name,at,hours,done,tags',
    '"Ann ""A""",1970-01-01T00:00:00.000Z,-2,true,"[""a"",""b""]"',
    "'=1+1,1970-01-01T00:00:00.001Z,0,false,",
    `'@x,1970-01-01T00:00:00.002Z,3,false,"{""a"":1}"`,
    '',
  ]);
});

test.each([
  ['{data}', bare, {}],
  ['{success, data}', withSuccess, { success: true }],
])("a list is exported as JSON in the app's envelope: %s", async (_form, envelope, members) => {
  const app = appWith(envelope, tasks);
  const answer = await request(app).get('/export?format=json').expect(200);
  expect(answer.headers['content-disposition']).toBe('attachment; filename="tasks.json"');
  expect(answer.body).toEqual({ ...members, data: answered });
});

test('an export has the declared columns only, in their order', async () => {
  const app = appWith(bare, tasks.slice(0, 1), ['done', 'name']);
  expect((await request(app).get('/export')).text).toBe('done,name\r\ntrue,"Ann ""A"""\r\n');
  const { text: json } = await request(app).get('/export?format=json');
  expect(json).toBe('{"data":[{"done":true,"name":"Ann \\"A\\""}]}');
});

test('line breaks of any kind are quoted', async () => {
  const rows = ['a\nb', 'a\rb', 'a\r\nb'].map((name) => ({ name }));
  const { text: csv } = await request(appWith(bare, rows, ['name']))
    .get('/export')
    .expect(200);
  expect(csv).toBe('name\r\n"a\nb"\r\n"a\rb"\r\n"a\r\nb"\r\n');
});

test('members of members are columns, and what all objects inherit is none of them', async () => {
  const rows: { tags: object }[] = [{ tags: { a: 1, constructor: 'x' } }, { tags: {} }];
  const app = appWith(bare, rows, ['tags.a', 'tags.constructor']);
  const { text: csv } = await request(app).get('/export').expect(200);
  expect(csv).toBe('tags.a,tags.constructor\r\n1,x\r\n,\r\n');
});

test.each([0, 1, 2, 3, 4, 5])('a list of %i records is exported completely', async (length) => {
  const rows = Array.from({ length }, (_none, n) => ({ ...tasks[0], hours: n }));
  const app = appWith(withSuccess, rows, ['hours']);
  const { body } = await request(app).get('/export?format=json');
  expect(body).toEqual({ success: true, data: rows.map(({ hours }) => ({ hours })) });
  const csv = ['hours', ...rows.map(({ hours }) => `${hours}`), ''].join('\r\n');
  expect((await request(app).get('/export')).text).toBe(csv);
});

test('each batch continues after the last row of the previous one, until a batch is not full', async () => {
  const asked: unknown[] = [];
  const read = async (last: number | undefined, limit: number) => {
    asked.push([last, limit]);
    return [1, 2, 3, 4].slice(last ?? 0, (last ?? 0) + limit);
  };
  expect(await Readable.from(readInBatches(2, read)).toArray()).toEqual([
    [1, 2],
    [3, 4],
  ]);
  expect(asked).toEqual([
    [undefined, 2],
    [2, 2],
    [4, 2],
  ]);
});

test.each(['csv', 'json'] as const)(
  'long rows of a batch are written one after the other as %s',
  async (format) => {
    const rows = Array.from({ length: 10 }, (_, number) => ({ name: `${number}`.repeat(50_000) }));
    async function* batches() {
      yield rows;
      yield [];
      yield [{ name: 'last' }];
    }
    const exported = listExports(bare)({ name: 'tasks', item: shape({ name: text(20) }) });
    const [{ chunks }] = exported.file(format, batches());
    const parts: string[] = [];
    for await (const part of chunks) parts.push(`${part}`);
    expect(parts.length).toBeGreaterThanOrEqual(6);
    for (const part of parts) expect(part.length).toBeLessThan(150_000);
    const all = parts.join('');
    const expected = [...rows, { name: 'last' }];
    if (format === 'json') expect(JSON.parse(all)).toEqual({ data: expected });
    else expect(all).toBe(`name\r\n${expected.map(({ name }) => `${name}\r\n`).join('')}`);
  },
);
