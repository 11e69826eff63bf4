import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { createLogger } from '@tessera/http-kit';
import { newTenant, type Person } from '@tessera/resource-server/testing';
import request from 'supertest';
import { startCrm, type TestCrm } from '../../testing/crm.ts';

const DAY_MS = 24 * 3_600_000;
const KINDS = ['kb-articles', 'blog-posts', 'pages'] as const;
const all = ['tenant.*.crm.*.*', 'tenant.*.crm.*.*.*'].map((action) => ({
  action,
  effect: 'allow' as const,
}));
const resources = { 'kb-articles': 'kb_articles', 'blog-posts': 'blog.posts', pages: 'pages' };

let crm: TestCrm;
let acme: ReturnType<typeof newTenant>;
let ada: Person;
beforeAll(async () => {
  crm = await startCrm();
});
beforeEach(() => {
  acme = newTenant('acme');
  ada = signIn();
});
afterEach(() => crm.identity.restore());
afterAll(() => crm.stop());

const signIn = (more: object = {}): Person =>
  crm.identity.signIn({ tenants: [acme], policies: all, ...more });

const send = (
  method: 'get' | 'post' | 'put' | 'delete',
  path: string,
  { headers }: Pick<Person, 'headers'> = ada,
  body: object = {},
) => {
  const asked = crm.http[method](`/api/crm/${path}`).set({ ...headers });
  return method === 'get' || method === 'delete' ? asked : asked.send(body);
};

interface CreatedPreview {
  readonly id: string;
  readonly token: string;
  readonly path: string;
  readonly expires_at: string;
}

const draftOf = async (kind: string, body: object = {}): Promise<string> =>
  (await send('post', kind, ada, { title: 'Draft', body: 'One', ...body }).expect(201)).body.data
    .id;

const preview = async (
  kind: string,
  id: string,
  by: Person = ada,
  body: object = {},
): Promise<CreatedPreview> =>
  (await send('post', `${kind}/${id}/previews`, by, body).expect(201)).body.data;

/** Requests without any authentication. */
const open = (path: string, on: TestCrm = crm) => request(on.url).get(path);

const expectEnded = async (path: string): Promise<void> => {
  const { status, body } = await open(path);
  expect([status, body]).toEqual([
    404,
    { error: 'not_found', message: 'The preview was not found.' },
  ]);
};

describe.each(KINDS)('A preview of %s', (kind) => {
  test('lets anybody read the current draft, and is neither stored nor indexed', async () => {
    const id = await draftOf(kind);
    const { path } = await preview(kind, id);
    const { body, headers } = await open(path).expect(200);
    expect(body.data).toMatchObject({ title: 'Draft', is_published: false, cover_path: null });
    expect(body.data.body_html).toContain('One');
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'x-robots-tag': 'noindex, nofollow',
      'referrer-policy': 'no-referrer',
      'access-control-allow-origin': '*',
    });
    await send('put', `${kind}/${id}`, ada, { body: 'Two' }).expect(200);
    expect((await open(path).expect(200)).body.data.body_html).toContain('Two');
    // A draft without a preview stays hidden.
    await expectEnded(path.slice(0, -1) + (path.endsWith('A') ? 'B' : 'A'));
  });

  test('is listed without its token, of which only a hash is stored, and ends when it is deleted', async () => {
    const id = await draftOf(kind);
    const { token, path, ...shown } = await preview(kind, id);
    expect(path).toBe(`/public/previews/${token}`);
    expect((await send('get', `${kind}/${id}/previews`).expect(200)).body.data).toEqual([shown]);
    const table = `${resources[kind].replace('.posts', '_post').replace(/s$/, '')}_previews`;
    const { rows } = await crm.context.pool.query(
      `SELECT row_to_json(found)::text AS row FROM tenant_crm.${table} AS found WHERE id = $1`,
      [shown.id],
    );
    expect(rows[0].row).not.toContain(token.slice(-43));
    await send('delete', `${kind}/${id}/previews/${shown.id}`).expect(204);
    await expectEnded(path);
  });

  test('ends with its record, and when its creator loses the permission to see it', async () => {
    const id = await draftOf(kind);
    const { path } = await preview(kind, id);
    const denied = { action: `tenant.*.crm.${resources[kind]}.view`, effect: 'deny' as const };
    crm.identity.setPolicies(ada, [...all, denied]);
    await expectEnded(path);
    crm.identity.setPolicies(ada, all);
    await open(path).expect(200);
    await send('delete', `${kind}/${id}`).expect(204);
    await expectEnded(path);
  });

  test('is created by users who may update the record', async () => {
    const id = await draftOf(kind);
    const denied = { action: `tenant.*.crm.${resources[kind]}.update`, effect: 'deny' as const };
    const { body } = await send(
      'post',
      `${kind}/${id}/previews`,
      signIn({ policies: [...all, denied] }),
    ).expect(403);
    expect(body.required_permission).toBe(`tenant.acme.crm.${resources[kind]}.update`);
    const impersonated = signIn({ impersonator_id: crypto.randomUUID() });
    const refused = await send('post', `${kind}/${id}/previews`, impersonated);
    expect([refused.status, refused.body.error]).toEqual([403, 'impersonation_forbidden']);
    const stranger = crm.identity.signIn({ tenants: [newTenant('other')], policies: all });
    await send('post', `${kind}/${id}/previews`, stranger).expect(404);
  });
});

describe('A preview', () => {
  test('expires after 7 days by default, and after 90 at most', async () => {
    const id = await draftOf('pages');
    const now = Date.now();
    const days = ({ expires_at }: CreatedPreview) =>
      Math.round((Date.parse(expires_at) - now) / DAY_MS);
    const first = await preview('pages', id);
    expect(days(first)).toBe(7);
    const late = new Date(now + 89.9 * DAY_MS).toISOString();
    expect(days(await preview('pages', id, ada, { expires_at: late }))).toBe(90);
    for (const wrong of [now - 1000, now + 91 * DAY_MS]) {
      const body = { expires_at: new Date(wrong).toISOString() };
      const refused = await send('post', `pages/${id}/previews`, ada, body).expect(422);
      expect(refused.body.errors).toHaveProperty('expires_at');
    }
    await crm.context.pool.query(
      "UPDATE tenant_crm.page_previews SET expires_at = now() - interval '1 second' WHERE id = $1",
      [first.id],
    );
    await expectEnded(first.path);
  });

  test('ends when its creator leaves the tenant, and while the tenant is suspended', async () => {
    const id = await draftOf('pages');
    const { path } = await preview('pages', id);
    crm.identity.suspend(acme.id);
    await expectEnded(path);
    crm.identity.suspend(acme.id, false);
    await open(path).expect(200);
    crm.identity.remove(ada);
    await expectEnded(path);
  });

  test('is 503 while identity does not answer', async () => {
    const { path } = await preview('pages', await draftOf('pages'));
    crm.identity.intercept('rights', () => ({ status: 500, body: '' }));
    expect((await open(path).expect(503)).body.error).toBe('identity_unavailable');
  });

  test('of one kind is of no use for another, and wrong tokens get the same response', async () => {
    const { token } = await preview('pages', await draftOf('pages'));
    for (const wrong of [token.replace('tcp_page', 'tcp_post'), 'nothing', `${token}x`]) {
      await expectEnded(`/public/previews/${wrong}`);
    }
  });

  test('shows the cover image, which is not stored either', async () => {
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    );
    const { body } = await crm.http
      .post('/api/crm/documents')
      .set({ ...ada.headers })
      .attach('file', png, { filename: 'a.png' })
      .expect(201);
    const id = await draftOf('pages', { cover_document_id: body.data.id });
    const { path } = await preview('pages', id);
    const { cover_path } = (await open(path).expect(200)).body.data;
    const cover = await open(cover_path).expect(200);
    expect(Buffer.compare(cover.body, png)).toBe(0);
    expect(cover.headers).toMatchObject({
      'cache-control': 'no-store',
      'x-robots-tag': 'noindex, nofollow',
      'content-type': 'image/png',
    });
    const without = await preview('pages', await draftOf('pages', { title: 'Other' }));
    await open(`${without.path}/cover`).expect(404);
  });

  test('is limited by address, and its token is not logged', async () => {
    const log = new PassThrough();
    const logger = createLogger('crm', 'debug', log);
    const one = await startCrm({ RATE_LIMIT_LINK: '2' }, { logger });
    const token = `tcp_page_${'a'.repeat(22)}_${'a'.repeat(22)}_${'b'.repeat(43)}`;
    for (const status of [404, 404, 429]) {
      await open(`/public/previews/${token}`, one).expect(status);
    }
    await one.stop();
    log.end();
    expect(await text(log)).not.toContain('b'.repeat(43));
  });
});
