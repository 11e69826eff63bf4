import { gzipSync } from 'node:zlib';
import {
  eventLoop,
  keepsEventLoop,
  type OpenApiDocument,
  type PreparedRequest,
  sendPrepared,
} from '@tessera/conformance';
import { until } from '@tessera/local-stack';
import { document } from './document.ts';
import { conformanceSubject } from './testing/conformance-subject.ts';
import { startCrm, type TestCrm } from './testing/crm.ts';
import { type MessagingServers, startMessagingServers } from './testing/messaging-servers.ts';

/** The largest JSON body, and the largest body of an article. */
const BODY_BYTES = 1024 * 1024;
const TEXT_LENGTH = 100_000;
const POSTS = 30;

let crm: TestCrm;
let servers: MessagingServers;
let subject: ReturnType<typeof conformanceSubject>;
let headers: Record<string, string>;
beforeAll(async () => {
  servers = await startMessagingServers();
  crm = await startCrm(servers.environment, {}, undefined, { checksResponses: false });
  subject = conformanceSubject(crm, servers);
  headers = crm.caller();
});
afterAll(async () => {
  await crm.stop();
  await servers.stop();
});

const api = (path: string): string => `${crm.url}/api/crm/${path}`;
const prepared = (
  method: string,
  path: string,
  body?: object,
  caller: Record<string, string> = headers,
): PreparedRequest => ({
  method,
  url: api(path),
  headers: Object.assign({}, caller, body && { 'content-type': 'application/json' }),
  ...(body && { body: Buffer.from(JSON.stringify(body)) }),
});
const idOf = async (path: string, body: object): Promise<string> => {
  const created = await crm.http.post(`/api/crm/${path}`).set(headers).send(body).expect(201);
  return created.body.data.id;
};

describe('the worst requests of other kinds keep the event loop for 20 ms at most', () => {
  test.each([
    ['line breaks', '\n', 'a\n'],
    ['spaces', ' ', '  a'],
    ['words in another order', 'a b ', 'b a '],
    ['one long line', 'x', 'y'],
  ])('the difference of two texts of %s', async (_what, before, after) => {
    const fill = (part: string) => part.repeat(TEXT_LENGTH).slice(0, TEXT_LENGTH - 1);
    const id = await idOf('kb-articles', { title: 'Texts', body: `a${fill(before)}` });
    const path = `kb-articles/${id}`;
    await crm.http
      .put(`/api/crm/${path}`)
      .set(headers)
      .send({ body: `b${fill(after)}` })
      .expect(200);
    expect(await keepsEventLoop('diff', prepared('GET', `${path}/revisions/diff`))).toEqual([]);
  });

  test('searches with the longest terms', async () => {
    const found: string[] = [];
    for (const list of ['contacts', 'companies', 'tasks', 'documents', 'kb-articles']) {
      for (const term of ['%', '_', '\\', 'ß ', 'a ']) {
        const search = encodeURIComponent(term.repeat(200).slice(0, 200));
        const path = `${list}?search=${search}&per_page=100`;
        found.push(...(await keepsEventLoop(`${list} ${term}`, prepared('GET', path))));
      }
    }
    expect(found).toEqual([]);
  });

  test('feeds of long posts', async () => {
    await crm.http.put('/api/crm/settings').set(headers).send({ public_reading: true }).expect(200);
    const body = '[a](b) *&*\n\n'.repeat(TEXT_LENGTH).slice(0, TEXT_LENGTH);
    for (let post = 0; post < POSTS; post += 1) {
      await idOf('blog-posts', { title: `Post ${post}`, body });
    }
    await crm.context.pool.query(
      "UPDATE tenant_crm.blog_posts SET status = 'published', published_at = now()",
    );
    const found: string[] = [];
    for (const path of ['feed.rss', 'feed.atom', 'sitemap.xml', 'blog-posts?per_page=100']) {
      const request = { method: 'GET', url: `${crm.url}/public/acme/${path}` };
      found.push(...(await keepsEventLoop(path, request)));
    }
    expect(found).toEqual([]);
  });

  test('batches that a viewer may not send, compressed', async () => {
    const viewer = crm.caller({ permissions: ['contacts.list', 'contacts.view'] });
    const tags = Array.from({ length: 50 }, (_, at) => `tag ${at}`);
    const emails = Array.from({ length: 20 }, (_, at) => ({
      email: `someone.${at}@example.com`,
      label: 'work',
    }));
    const operations = Array.from({ length: 500 }, (_, at) => ({
      op: 'create',
      body: { first_name: `${at}`, emails, tags },
    }));
    const sent = prepared('POST', 'contacts/batch', { operations }, viewer);
    const request = {
      ...sent,
      headers: { ...sent.headers, 'content-encoding': 'gzip' },
      body: gzipSync(sent.body ?? ''),
    };
    expect(await sendPrepared(request)).toBe(403);
    expect(await keepsEventLoop('a refused batch', request)).toEqual([]);
  });

  test('exports and long lists of records with much in them', async () => {
    const tags = Array.from({ length: 50 }, (_, at) => `tag ${at} ${'x'.repeat(30)}`);
    for (let batch = 0; batch < 4; batch += 1) {
      const operations = Array.from({ length: 250 }, (_, at) => ({
        op: 'create',
        body: { first_name: `${batch} ${at}`, notes: 'é'.repeat(1000), tags },
      }));
      await crm.http
        .post('/api/crm/contacts/batch')
        .set(headers)
        .send({ operations })
        .expect(({ status }) => expect(status).toBeLessThan(500));
    }
    const found: string[] = [];
    for (const path of ['contacts/export', 'contacts?per_page=100', 'tag-export', 'activity']) {
      found.push(...(await keepsEventLoop(path, prepared('GET', path))));
    }
    expect(found).toEqual([]);
  });

  test.each([
    // A row has at most a million characters.
    ['a million commas', 'tags', ','.repeat(990_000)],
    ['450,000 brackets', 'emails', '['.repeat(225_000) + ']'.repeat(225_000)],
    ['450,000 brackets in tags', 'tags', '['.repeat(225_000) + ']'.repeat(225_000)],
    ['many braces', 'addresses', `[${'{},'.repeat(300_000)}{}]`],
    ['a million line breaks', 'notes', '\n'.repeat(990_000)],
    ['a million quotes', 'notes', '""'.repeat(450_000)],
  ])('an import whose cell has %s', async (what, column, cell) => {
    const file = Buffer.from(`first_name,${column}\nAda,"${cell}"\n`);
    const boundary = 'cells';
    const field = (name: string, value: string) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
    const body = Buffer.concat([
      Buffer.from(
        `${field('resource', 'contacts')}--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\nContent-Type: text/csv\r\n\r\n`,
      ),
      file,
      Buffer.from(`\r\n--${boundary}--\r\n`),
    ]);
    const request = {
      method: 'POST',
      url: api('imports'),
      headers: { ...headers, 'content-type': `multipart/form-data; boundary=${boundary}` },
      body,
    };
    const ended = async () => {
      const { rows } = await crm.context.pool.query(
        "SELECT 1 FROM tenant_crm.imports WHERE status NOT IN ('completed', 'failed', 'cancelled')",
      );
      return rows.length === 0;
    };
    const found = await keepsEventLoop(what, request, () => until(ended));
    const { rows } = await crm.context.pool.query(
      'SELECT count(*)::int AS n FROM tenant_crm.imports',
    );
    expect(rows[0]?.n).toBeGreaterThan(0);
    expect(found).toEqual([]);
  });
});

// Last, because the worst bodies change settings that other requests need.
eventLoop(document() as OpenApiDocument, () => subject, { maxBytes: BODY_BYTES });
