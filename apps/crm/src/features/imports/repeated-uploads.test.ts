import { randomUUID } from 'node:crypto';
import { tenantForEachTest } from '../../testing/tenant.ts';

const { caller, crm, get } = tenantForEachTest();
const path = '/api/crm/imports';

const sender = () => ({ ...caller(), 'Idempotency-Key': randomUUID() });

const send = (
  headers: Record<string, string>,
  file: string,
  fields: Readonly<Record<string, string>> = {},
) => {
  const request = crm().http.post(path).set(headers);
  for (const [name, value] of Object.entries({ resource: 'contacts', ...fields })) {
    void request.field(name, value);
  }
  return request.attach('file', Buffer.from(file), { filename: 'a.csv', contentType: 'text/csv' });
};

/** A file of several parts. */
const large = `first_name,notes\n${`Ada,${'x'.repeat(9000)}\n`.repeat(60)}`;

const imports = async () => (await get(path)).body.meta.total;

test('A file that is sent again with its Idempotency-Key is imported once', async () => {
  const headers = sender();
  const file = large;
  const first = await send(headers, file).expect(201);
  const second = await send(headers, file).expect(201);
  expect([second.text, second.headers['idempotent-replayed']]).toEqual([first.text, 'true']);
  for (const name of ['etag', 'location']) expect(second.headers[name]).toBe(first.headers[name]);
  expect(await imports()).toBe(1);
});

test.each([
  ['Another content', 'first_name\nEve\n', {}],
  ['Other fields', 'first_name\nAda\n', { dry_run: 'true' }],
])('%s with the key of a file is 422, and nothing is imported', async (_what, file, fields) => {
  const headers = sender();
  await send(headers, 'first_name\nAda\n').expect(201);
  const refused = await send(headers, file, fields as Readonly<Record<string, string>>);
  expect([refused.status, refused.body.error]).toEqual([422, 'idempotency_key_reused']);
  expect(await imports()).toBe(1);
});

test('A file can be sent with the key of a file that was refused', async () => {
  const headers = sender();
  await send(headers, 'shoe size\n38\n').expect(422);
  const { headers: sent } = await send(headers, 'first_name\nAda\n').expect(201);
  expect(sent['idempotent-replayed']).toBeUndefined();
});

test('Of simultaneous uploads with one key, one is imported', async () => {
  const headers = sender();
  const file = large;
  const sent = await Promise.all([1, 2, 3].map(() => send(headers, file)));
  const answered = sent.filter(({ status }) => status === 201);
  expect(new Set(answered.map(({ text }) => text)).size).toBe(1);
  for (const { status } of sent) expect([201, 409]).toContain(status);
  // Those that came too late leave nothing behind.
  expect(await imports()).toBe(1);
});
