import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { until, untilConnected } from '@tessera/local-stack';
import { chatTenant } from '../../testing/chat.ts';
import { openStream } from '../../testing/streams.ts';
import { channelFilePurgeHandler } from './channel-files.ts';
import { followMessageScan } from './message-files.service.ts';

const { crm, get, post, put, remove, tenant, user, channel } = chatTenant();
const sha256 = (content: string | Buffer): string =>
  createHash('sha256').update(content).digest('hex');

type Headers = Readonly<Record<string, string>>;

interface Sent {
  readonly content?: string | Buffer;
  readonly name?: string;
  readonly fields?: Readonly<Record<string, string>>;
  readonly headers?: Headers;
}

const upload = (
  path: string,
  { content = 'hello', name = 'a.txt', fields = {}, headers = {} }: Sent = {},
) => {
  const sent = post(`${path}/upload`, null, headers);
  for (const [field, value] of Object.entries(fields)) sent.field(field, value);
  return sent.attach('file', Buffer.from(content), { filename: name, contentType: 'text/plain' });
};

/** Uploads a file and returns the path of its message. */
const uploaded = async (path: string, sent: Sent = {}): Promise<string> =>
  `${path}/messages/${(await upload(path, sent).expect(201)).body.data.id}`;

interface Stored {
  readonly tenant_id: string;
  readonly object_id: string;
  readonly count: number;
}

/** What CRM keeps of the file with this content. */
const stored = async (content: string | Buffer): Promise<Stored | undefined> => {
  const { rows } = await crm().context.pool.query<Stored>(
    'SELECT tenant_id, object_id, reference_count AS count FROM tenant_crm.file_contents WHERE sha256 = $1',
    [sha256(content)],
  );
  return rows[0];
};

const isKept = ({ tenant_id: tenantId, object_id: id }: Stored): Promise<boolean> =>
  crm().context.fileStore.has({ tenantId, id });

/** Waits until CRM has neither the row of a content nor its object. */
const untilDeleted = async (content: string | Buffer, object: Stored): Promise<void> => {
  await until(async () => (await stored(content)) === undefined);
  await until(async () => !(await isKept(object)));
};

test('A message with a file is posted, listed, found by the name of the file, and downloaded', async () => {
  const general = await channel();
  const friend = randomUUID();
  const sent = await upload(general, {
    content: 'a,b\n1,2\n',
    name: 'Árlista.csv',
    fields: { body: `Prices for <@${friend}>` },
  }).expect(201);
  const file = { name: 'Árlista.csv', size: 8, scan_status: 'not_scanned' };
  expect(sent.body.data).toMatchObject({
    position: 1,
    body: `Prices for <@${friend}>`,
    mentions: [friend],
    author_type: 'user',
    file,
  });
  const path = `${general}/messages/${sent.body.data.id}`;
  expect(sent.headers.location).toBe(path);
  for (const listed of [`${general}/messages`, '/api/crm/chat/messages?search=arlista']) {
    expect((await get(listed).expect(200)).body.data).toMatchObject([{ file }]);
  }
  expect((await get(general)).body.data.last_message).toMatchObject({ file_name: 'Árlista.csv' });
  const whole = await get(`${path}/file`).expect(200);
  expect(whole.text).toBe('a,b\n1,2\n');
  const etag = `"${sha256('a,b\n1,2\n')}"`;
  expect(whole.headers).toMatchObject({
    etag,
    'accept-ranges': 'bytes',
    'x-content-type-options': 'nosniff',
    'content-disposition': expect.stringMatching(/^attachment; .*filename\*=UTF-8''%C3%81rlista/),
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  });
  const part = await get(`${path}/file`, { range: 'bytes=2-4' }).expect(206);
  expect([part.text, part.headers['content-range']]).toEqual(['b\n1', 'bytes 2-4/8']);
  await get(`${path}/file`, { range: 'bytes=8-' }).expect(416);
  await get(`${path}/file`, { 'if-none-match': etag }).expect(304);
  await get(`${path}/file`, { 'if-match': '"x"' }).expect(412);
});

test('A message with a file needs no text, and can be a reply in a thread of its channel', async () => {
  const general = await channel();
  const root = (await upload(general).expect(201)).body.data;
  expect(root).toMatchObject({ body: null, thread_root_id: null });
  const fields = { thread_root_id: root.id };
  expect((await upload(general, { fields }).expect(201)).body.data).toMatchObject(fields);
  const elsewhere = { thread_root_id: randomUUID() };
  const refused = await upload(general, { content: 'lost', fields: elsewhere }).expect(422);
  expect(Object.keys(refused.body.errors)).toEqual(['thread_root_id']);
  expect(await stored('lost')).toBeUndefined();
  expect((await get(`${general}/messages`)).body.meta.total).toBe(2);
});

test('The file of a message without a file is 404', async () => {
  const general = await channel();
  const { body } = await post(`${general}/messages`, { body: 'Hello' }).expect(201);
  expect(body.data.file).toBeNull();
  await get(`${general}/messages/${body.data.id}/file`).expect(404);
});

test.each([
  ['../../etc/passwd', 'passwd'],
  ['..\\..\\windows\\win.ini', 'win.ini'],
  ['..', 'file'],
  ['%2e%2e%2fetc%2fpasswd', '%2e%2e_etc_passwd'],
  ['%252e%252e%252fetc', '%252e%252e_etc'],
  ['C:boot.ini', '_boot.ini'],
  ['見積書.txt', '見積書.txt'],
])('An uploaded file called %j becomes %j', async (name, safe) => {
  const general = await channel();
  const { body } = await upload(general, { name }).expect(201);
  expect(body.data.file.name).toBe(safe);
});

test('A file in a private channel is 404 for everybody but the participants', async () => {
  const [ada, eve] = [user(), user()];
  const secret = await channel({ kind: 'private' }, ada.headers);
  const path = await uploaded(secret, { headers: ada.headers });
  await get(`${path}/file`, ada.headers).expect(200);
  await get(`${path}/file`, eve.headers).expect(404);
  await get(`${path}/file`).expect(404);
  await upload(secret, { content: 'intruder', headers: eve.headers }).expect(404);
  expect(await stored('intruder')).toBeUndefined();
  const other = await channel();
  await get(`${other}/messages/${path.split('/').at(-1)}/file`).expect(404);
});

describe('A recalled message', () => {
  test('has no file, also not in its history, and the content is deleted', async () => {
    const general = await channel();
    const content = randomUUID();
    const path = await uploaded(general, { content, name: 'salaries.txt' });
    const object = await stored(content);
    if (!object) throw new Error('The file is not stored.');
    expect((await post(`${path}/recall`).expect(200)).body.data).toMatchObject({
      body: null,
      file: null,
    });
    await get(`${path}/file`).expect(404);
    expect((await get(`${path}/history`)).text).not.toContain('salaries');
    expect((await get('/api/crm/chat/messages?search=salaries')).body.data).toEqual([]);
    await untilDeleted(content, object);
  });

  test('does not change the same file of another message', async () => {
    const general = await channel();
    const content = randomUUID();
    const [first, second] = [
      await uploaded(general, { content }),
      await uploaded(general, { content }),
    ];
    expect(await stored(content)).toMatchObject({ count: 2 });
    await post(`${first}/recall`).expect(200);
    expect(await stored(content)).toMatchObject({ count: 1 });
    expect((await get(`${second}/file`).expect(200)).text).toBe(content);
  });

  test('does not interrupt a download of its file', async () => {
    const general = await channel();
    const content = Buffer.alloc(24 * 1024 * 1024, randomUUID());
    const path = await uploaded(general, { content });
    const object = await stored(content);
    if (!object) throw new Error('The file is not stored.');
    const { url, header } = get(`${path}/file`) as unknown as { url: string; header: Headers };
    const download = request(url, { headers: header }).end();
    const [response] = await once(download, 'response');
    const hash = createHash('sha256');
    const [first] = await once(response, 'data');
    hash.update(first);
    response.pause();
    await post(`${path}/recall`).expect(200);
    await untilDeleted(content, object);
    for await (const chunk of response) hash.update(chunk);
    expect(hash.digest('hex')).toBe(sha256(content));
  });
});

test('The file of a deleted message is restored with it, and deleted for good after 30 days', async () => {
  const general = await channel();
  const content = randomUUID();
  const path = await uploaded(general, { content });
  await remove(path).expect(204);
  await get(`${path}/file`).expect(404);
  await post(`${path}/restore`).expect(200);
  expect((await get(`${path}/file`).expect(200)).text).toBe(content);
  await remove(path).expect(204);
  const object = await stored(content);
  if (!object) throw new Error('The file is not stored.');
  const id = path.split('/').at(-1);
  const { pool } = crm().context;
  await pool.query(
    "UPDATE tenant_crm.messages SET deleted_at = now() - interval '31 days' WHERE id = $1",
    [id],
  );
  await pool.query(
    "UPDATE crm_jobs.job SET start_after = now() WHERE name = 'message_file_purge' AND data->>'id' = $1",
    [id],
  );
  await untilDeleted(content, object);
  expect((await post(`${path}/restore`).expect(409)).body.message).toMatch(/deleted for good/);
});

describe('The files of a deleted channel', () => {
  const idOf = (path: string) => path.split('/').at(-1);

  /** As if the channel had been deleted a month ago, if it is deleted. */
  const age = (path: string) =>
    crm().context.pool.query(
      'UPDATE tenant_crm.channels SET deleted_at = $2 WHERE id = $1 AND deleted_at IS NOT NULL',
      [idOf(path), new Date(Date.now() - 31 * 24 * 3_600_000)],
    );

  /** Runs the jobs of the channel now, and waits for their end. */
  const purge = async (path: string): Promise<void> => {
    const { pool } = crm().context;
    const jobs = `crm_jobs.job WHERE name = 'channel_file_purge' AND state < 'completed' AND data->>'id' = $1`;
    await pool.query(
      `UPDATE crm_jobs.job SET start_after = now() WHERE id IN (SELECT id FROM ${jobs})`,
      [idOf(path)],
    );
    await until(async () => (await pool.query(`SELECT FROM ${jobs}`, [idOf(path)])).rowCount === 0);
  };

  test('are restored with it, and deleted for good after 30 days', async () => {
    const general = await channel();
    const content = randomUUID();
    const path = await uploaded(general, { content });
    await remove(`${general}?force=true`).expect(204);
    await age(general);
    await post(`${general}/restore`).expect(200);
    await purge(general);
    expect((await get(`${path}/file`).expect(200)).text).toBe(content);
    await remove(`${general}?force=true`).expect(204);
    await age(general);
    const object = await stored(content);
    if (!object) throw new Error('The file is not stored.');
    await purge(general);
    await untilDeleted(content, object);
    await post(`${general}/restore`).expect(200);
    expect((await get(path).expect(200)).body.data.file).toBeNull();
  });

  test('are kept if it was restored and has been deleted again', async () => {
    const general = await channel();
    const content = randomUUID();
    await uploaded(general, { content });
    await remove(`${general}?force=true`).expect(204);
    await post(`${general}/restore`).expect(200);
    await remove(`${general}?force=true`).expect(204);
    await purge(general);
    expect(await stored(content)).toMatchObject({ count: 1 });
  });

  test('are deleted in parts', async () => {
    const general = await channel();
    for (let sent = 0; sent < 5; sent += 1) await uploaded(general, { content: randomUUID() });
    await remove(`${general}?force=true`).expect(204);
    await age(general);
    const parts: number[] = [];
    const files = {
      release: async (_db: unknown, ids: readonly string[]) => void parts.push(ids.length),
    };
    const handler = channelFilePurgeHandler({ database: crm().context.database, files }, 2);
    const run = { stopping: new AbortController().signal };
    const payload = { tenant_id: tenant().id, id: idOf(general) };
    await handler.handle(payload as never, run as never);
    expect(parts).toEqual([2, 2, 1, 0]);
  });
});

test.each([
  ['pending', 'scan_pending'],
  ['infected', 'file_quarantined'],
])('A file with the scan status %s is not served', async (status, error) => {
  const general = await channel();
  const content = randomUUID();
  const path = await uploaded(general, { content });
  await crm().context.pool.query(
    'UPDATE tenant_crm.file_contents SET scan_status = $2 WHERE sha256 = $1',
    [sha256(content), status],
  );
  expect((await get(path)).body.data.file).toMatchObject({ scan_status: status });
  expect((await get(`${path}/file`).expect(409)).body.error).toBe(error);
});

test('The stream of a channel sends the message after its file was scanned', async () => {
  const general = await channel();
  const content = randomUUID();
  const path = await uploaded(general, { content });
  const { etag = '' } = (await get(path)).headers;
  const ada = user();
  const stream = await openStream(`${crm().url}${general}/stream`, ada.headers);
  const { tenant_id: tenantId = '' } = (await stored(content)) ?? {};
  const { database, pool } = crm().context;
  const { rows } = await pool.query<{ id: string }>(
    "UPDATE tenant_crm.file_contents SET scan_status = 'clean' WHERE sha256 = $1 RETURNING id",
    [sha256(content)],
  );
  await followMessageScan(database.forTenant(tenantId), rows[0]?.id ?? '', 'clean');
  const { data } = await stream.next('message.updated');
  expect(data).toMatchObject({ message: { file: { name: 'a.txt', scan_status: 'clean' } } });
  expect((await get(path)).headers.etag).not.toBe(etag);
  await put(path, { body: 'Scanned' }).set('If-Match', etag).expect(200);
  stream.close();
});

test('An upload that is repeated with the same Idempotency-Key posts one message', async () => {
  const general = await channel();
  const content = randomUUID();
  const headers = { 'Idempotency-Key': randomUUID() };
  const first = await upload(general, { content, headers }).expect(201);
  const second = await upload(general, { content, headers }).expect(201);
  expect(second.body).toEqual(first.body);
  expect(second.headers['idempotent-replayed']).toBe('true');
  expect((await upload(general, { content: 'other', headers }).expect(422)).body.error).toBe(
    'idempotency_key_reused',
  );
  expect(await stored(content)).toMatchObject({ count: 1 });
  expect((await get(`${general}/messages`)).body.meta.total).toBe(1);
});

test('What a repeated request created is 404 when the channel is hidden from the caller meanwhile', async () => {
  const [ann, bob] = [user(), user()];
  const key = { 'Idempotency-Key': randomUUID() };
  const create = () =>
    post('/api/crm/channels', { kind: 'private', name: 'Own' }, { ...ann.headers, ...key });
  const own = `/api/crm/channels/${(await create().expect(201)).body.data.id}`;
  const participant = { user_id: bob.id, role: 'owner' };
  await post(`${own}/participants`, participant, ann.headers).expect(201);
  const sent = {
    content: randomUUID(),
    headers: { ...ann.headers, 'Idempotency-Key': randomUUID() },
  };
  await upload(own, sent).expect(201);
  expect((await create().expect(201)).headers['idempotent-replayed']).toBe('true');
  expect((await upload(own, sent).expect(201)).headers['idempotent-replayed']).toBe('true');
  await remove(`${own}/participants/${ann.id}`, bob.headers).expect(204);
  await create().expect(404);
  await upload(own, sent).expect(404);
});

test('Simultaneous uploads and recalls in one tenant all succeed', async () => {
  const general = await channel();
  const content = randomUUID();
  const paths = await Promise.all(
    Array.from({ length: 6 }, () => uploaded(general, { content, name: 'same.txt' })),
  );
  const answers = await Promise.all([
    ...paths.map((path) => untilConnected(() => post(`${path}/recall`))),
    ...paths.map(() => untilConnected(() => upload(general, { content }))),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([
    ...paths.map(() => 200),
    ...paths.map(() => 201),
  ]);
  expect(await stored(content)).toMatchObject({ count: 6 });
});

test('A file beyond the quota is 413, and a recall frees the bytes of its file', async () => {
  const general = await channel();
  const path = await uploaded(general, { content: '12345' });
  const tenantId = (await stored('12345'))?.tenant_id ?? '';
  const system = { ...crm().system(), 'x-tenant-id': tenantId };
  await crm()
    .http.put('/api/crm/system/storage-quota')
    .set(system)
    .send({ quota_bytes: 8 })
    .expect(200);
  const { body } = await upload(general, { content: '1234' }).expect(413);
  expect(body).toMatchObject({ error: 'storage_quota_exceeded', bytes_left: 3 });
  await post(`${path}/recall`).expect(200);
  await upload(general, { content: '1234' }).expect(201);
});
