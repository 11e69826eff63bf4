import { judge, type Reply } from './outcome.ts';

const reply = (status: number, body?: unknown): Reply => ({
  status,
  body,
  text: body === undefined ? '' : JSON.stringify(body),
});
const isRight = (body: unknown): boolean => (body as { own?: boolean }).own === true;
const kindOf = (of: Reply) => judge(of, isRight, ['database_unavailable']).kind;

test('Only a right 2xx response is ok, and only an expected code is a refusal', () => {
  expect(kindOf(reply(200, { own: true }))).toBe('ok');
  expect(kindOf(reply(201, { own: false }))).toBe('wrong');
  expect(kindOf(reply(503, { error: 'database_unavailable' }))).toBe('refused');
  for (const status of [401, 403, 404, 500, 503]) {
    expect(kindOf(reply(status, { error: 'other' }))).toBe('wrong');
  }
  expect(kindOf(reply(500))).toBe('wrong');
});

test('The proxy without a replica, and a connection that ends, are no answers', () => {
  expect(kindOf(reply(502))).toBe('lost');
  expect(kindOf(reply(503))).toBe('lost');
  expect(kindOf({ status: 0, reason: 'ECONNRESET' })).toBe('lost');
});
