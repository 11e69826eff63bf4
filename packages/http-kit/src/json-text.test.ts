import request from 'supertest';
import { JsonText } from './index.ts';
import { appOf, id, route, Thing } from './testing/things.ts';

const thing = { id, name: 'Ádám "A"', done: true };
const showThing = route({
  method: 'get',
  path: '/thing',
  permission: 'public',
  summary: 'A thing',
  responses: { 200: Thing },
  handler: ({ reply }) => reply(200, new JsonText(JSON.stringify(thing)), { ETag: '"1"' }),
});
const app = appOf({ Things: { showThing } });

test('A body that is JSON text is sent as it is, like any other JSON', async () => {
  const { headers, body } = await request(app).get('/thing').expect(200);
  expect(body).toEqual(thing);
  expect(headers['content-type']).toBe('application/json; charset=utf-8');
  expect(headers.etag).toBe('"1"');
  await request(app).get('/thing').set('If-None-Match', '"1"').expect(304);
});

test('HEAD gets its length without the body', async () => {
  const { headers } = await request(app).head('/thing').expect(200);
  expect(Number(headers['content-length'])).toBe(Buffer.byteLength(JSON.stringify(thing)));
});

test('It may be part of another value', () => {
  const text = new JsonText('{"a":[1,"é"]}');
  expect(JSON.stringify({ data: [text] })).toBe('{"data":[{"a":[1,"é"]}]}');
});
