import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { createLogger } from '@tessera/http-kit';
import { newTenant, type Person, refusal } from '@tessera/resource-server/testing';
import request from 'supertest';
import { startCrm, type TestCrm } from '../../testing/crm.ts';
import { documentsPath, documentUploader, foldersPath } from '../../testing/documents.ts';
import { tenantForEachTest } from '../../testing/tenant.ts';
import { otherSpelling } from '../../testing/tokens.ts';

const DAY_MS = 24 * 3_600_000;
const tenant = tenantForEachTest();
const { crm, get, post, put, remove } = tenant;
const upload = documentUploader(tenant);

let acme: ReturnType<typeof newTenant>;
let ada: Person;
beforeEach(() => {
  acme = newTenant('acme');
  ada = signIn();
});
afterEach(() => crm().identity.restore());

const all = [{ action: 'tenant.*.crm.*.*', effect: 'allow' as const }];
const signIn = (more: object = {}): Person =>
  crm().identity.signIn({ tenants: [acme], policies: all, ...more });

interface LinkAnswer {
  readonly expires_at: string;
  readonly id: string;
  readonly token: string;
  readonly path: string;
}

/** Uploads a document as a user. */
const documentOf = async ({ headers }: Person, content = '0123456789', folder?: string) =>
  (
    await upload({
      content,
      headers: { ...headers },
      ...(folder !== undefined && { fields: { folder_id: folder } }),
    }).expect(201)
  ).body.data.id as string;

const linkTo = async (id: string, { headers }: Person = ada, body: object = {}) =>
  (await post(`${documentsPath}/${id}/links`, body, headers).expect(201)).body.data as LinkAnswer;

/** Requests without any authentication. */
const open = (path: string, headers: Record<string, string> = {}) =>
  request(crm().url).get(path).set(headers);

const notThere = { error: 'not_found', message: 'The link was not found.' };
const expectEnded = async ({ path }: LinkAnswer): Promise<void> => {
  const { status, body } = await open(path);
  expect([status, body]).toEqual([404, notThere]);
};

describe('A link', () => {
  test('lets anybody download the document, with ranges, conditions and safe headers', async () => {
    const { path } = await linkTo(await documentOf(ada));
    const { text: content, headers } = await open(path).expect(200);
    expect(content).toBe('0123456789');
    expect(headers).toMatchObject({
      'content-disposition': 'attachment; filename=a.txt',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
      'cache-control': 'private, no-cache',
      'referrer-policy': 'no-referrer',
    });
    expect((await open(path, { range: 'bytes=2-4' }).expect(206)).text).toBe('234');
    await open(path, { 'if-none-match': headers.etag ?? '' }).expect(304);
    const head = await request(crm().url).head(path).expect(200);
    expect(head.headers['content-length']).toBe('10');
  });

  test('serves the current version, or the version for which it was created', async () => {
    const id = await documentOf(ada, 'one');
    const [current, fixed] = [await linkTo(id), await linkTo(id, ada, { version_number: 1 })];
    await put(`${documentsPath}/${id}/content`, null, ada.headers)
      .set('content-type', 'text/plain')
      .send('two')
      .expect(200);
    expect([(await open(current.path)).text, (await open(fixed.path)).text]).toEqual([
      'two',
      'one',
    ]);
    const { body } = await post(`${documentsPath}/${id}/links`, { version_number: 3 }, ada.headers);
    expect(body.errors).toHaveProperty('version_number');
  });

  test('is listed without its token, of which only a hash is stored', async () => {
    const id = await documentOf(ada);
    const { token, path, ...link } = await linkTo(id);
    expect(path).toBe(`/public/links/${token}`);
    const { body } = await get(`${documentsPath}/${id}/links`, ada.headers).expect(200);
    expect(body.data).toEqual([link]);
    const { rows } = await crm().context.pool.query(
      'SELECT row_to_json(document_links)::text AS row FROM tenant_crm.document_links WHERE id = $1',
      [link.id],
    );
    expect(rows[0].row).not.toContain(token.slice(-43));
  });

  test('expires after seven days by default, and after thirty at most', async () => {
    const id = await documentOf(ada);
    const now = Date.now();
    const days = ({ expires_at }: LinkAnswer) =>
      Math.round((Date.parse(expires_at) - now) / DAY_MS);
    expect(days(await linkTo(id))).toBe(7);
    const month = new Date(now + 29.9 * DAY_MS).toISOString();
    expect(days(await linkTo(id, ada, { expires_at: month }))).toBe(30);
    for (const wrong of [now - 1000, now + 31 * DAY_MS]) {
      const body = { expires_at: new Date(wrong).toISOString() };
      const refused = await post(`${documentsPath}/${id}/links`, body, ada.headers).expect(422);
      expect(refused.body.errors).toHaveProperty('expires_at');
    }
  });

  test('is in the history of the document when it is created and when it is deleted', async () => {
    const id = await documentOf(ada);
    const link = await linkTo(id);
    await remove(`${documentsPath}/${id}/links/${link.id}`, ada.headers).expect(204);
    const { body } = await get(`${documentsPath}/${id}/history`, ada.headers).expect(200);
    expect(body.data).toMatchObject([
      { action: 'delete_link', user_id: ada.id, changes: { link: { from: { id: link.id } } } },
      { action: 'create_link', user_id: ada.id, changes: { link: { to: { id: link.id } } } },
      { action: 'create' },
    ]);
    expect(JSON.stringify(body)).not.toContain(link.token);
  });

  test('is created and deleted beside others of the document, and all are in the history in order', async () => {
    const id = await documentOf(ada);
    // As if the last change were in the future: all others then follow within the same milliseconds.
    await crm().context.pool.query(
      `UPDATE tenant_crm.record_changes SET changed_at = now() + interval '1 day' WHERE record_id = $1`,
      [id],
    );
    const links = await Promise.all(Array.from({ length: 20 }, () => linkTo(id)));
    const statuses = await Promise.all(
      links.map(async (link) => {
        const path = `${documentsPath}/${id}/links/${link.id}`;
        const [deleted] = await Promise.all([remove(path, ada.headers), linkTo(id)]);
        return deleted.status;
      }),
    );
    expect(new Set(statuses)).toEqual(new Set([204]));
    const { body } = await get(`${documentsPath}/${id}/history?per_page=100`, ada.headers);
    const actions = (body.data as { action: string }[]).map(({ action }) => action);
    expect(actions.filter((action) => action === 'create_link')).toHaveLength(40);
    expect(actions.filter((action) => action === 'delete_link')).toHaveLength(20);
    expect(actions.at(-1)).toBe('create');
    const times = new Set((body.data as { changed_at: string }[]).map((one) => one.changed_at));
    expect(times.size).toBe(61);
  });
});

describe('A link is created by', () => {
  test('users with documents.view and documents.share', async () => {
    const id = await documentOf(ada);
    for (const lacking of ['documents.view', 'documents.share']) {
      const denied = { action: `tenant.*.crm.${lacking}`, effect: 'deny' as const };
      const { headers } = signIn({ policies: [...all, denied] });
      const { body } = await post(`${documentsPath}/${id}/links`, {}, headers).expect(403);
      expect(body.required_permission).toBe(`tenant.acme.crm.${lacking}`);
    }
  });

  test('users, but not by clients, nor by administrators who act as a user', async () => {
    const id = await documentOf(ada);
    const pipeline = { type: 'client', id: 'pipeline', tenants: [], scopes: ['*'] } as const;
    const client = crm().identity.signIn(pipeline);
    const headers = { ...client.headers, 'x-tenant': 'acme' };
    const inAcme = `${documentsPath}/${await documentOf({ ...client, headers })}/links`;
    expect((await post(inAcme, {}, headers).expect(403)).body.error).toBe('user_required');
    const impersonated = signIn({ impersonator_id: crypto.randomUUID() });
    const refused = await post(`${documentsPath}/${id}/links`, {}, impersonated.headers);
    expect([refused.status, refused.body.error]).toEqual([403, 'impersonation_forbidden']);
  });

  test('users who see the document', async () => {
    const id = await documentOf(ada);
    const elsewhere = crm().identity.signIn({ tenants: [newTenant('acme')], policies: all });
    for (const body of [{}, { version_number: 1 }]) {
      await post(`${documentsPath}/${id}/links`, body, elsewhere.headers).expect(404);
    }
  });
});

describe('A link stops working', () => {
  test('when it is deleted', async () => {
    const id = await documentOf(ada);
    const [link, other] = [await linkTo(id), await linkTo(id)];
    await remove(`${documentsPath}/${id}/links/${link.id}`, ada.headers).expect(204);
    await expectEnded(link);
    await open(other.path).expect(200);
  });

  test('when it expires', async () => {
    const link = await linkTo(await documentOf(ada));
    await crm().context.pool.query(
      `UPDATE tenant_crm.document_links SET expires_at = now() - interval '1 s' WHERE id = $1`,
      [link.id],
    );
    await expectEnded(link);
  });

  test('when its creator loses documents.view', async () => {
    const link = await linkTo(await documentOf(ada));
    const denied = { action: 'tenant.*.crm.documents.view', effect: 'deny' as const };
    crm().identity.setPolicies(ada, [...all, denied]);
    await expectEnded(link);
  });

  test('when its creator is deactivated or leaves the tenant, but not when they sign out', async () => {
    const link = await linkTo(await documentOf(ada));
    crm().identity.revoke(ada);
    await open(link.path).expect(200);
    crm().identity.remove(ada);
    await expectEnded(link);
  });

  test('when the tenant is suspended', async () => {
    const link = await linkTo(await documentOf(ada));
    crm().identity.change(ada, { tenants: [{ ...acme, is_active: false }] });
    await expectEnded(link);
  });

  test('when the API key that created it is revoked', async () => {
    const bot = signIn({ type: 'service_account' });
    const link = await linkTo(await documentOf(ada), bot);
    await open(link.path).expect(200);
    crm().identity.revoke(bot);
    await expectEnded(link);
  });

  test('when its creator loses access to the folder', async () => {
    const create = await post(foldersPath, { name: 'Contracts' }, ada.headers).expect(201);
    const folder = create.body.data.id as string;
    const link = await linkTo(await documentOf(ada, 'secret', folder));
    const boss = signIn();
    const members = `${foldersPath}/${folder}/members`;
    await post(members, { user_id: ada.id, access: 'read' }, boss.headers).expect(201);
    await open(link.path).expect(200);
    await remove(`${members}/${ada.id}`, boss.headers).expect(204);
    await expectEnded(link);
  });

  test('when the document is deleted', async () => {
    const id = await documentOf(ada);
    const link = await linkTo(id);
    await remove(`${documentsPath}/${id}`, ada.headers).expect(204);
    await expectEnded(link);
  });

  test('when the file is infected, and is 409 while the file is being scanned or if it cannot be', async () => {
    const id = await documentOf(ada, crypto.randomUUID());
    const link = await linkTo(id);
    const scanned = (status: string) =>
      crm().context.pool.query(
        `UPDATE tenant_crm.file_contents SET scan_status = $1 WHERE (tenant_id, id) IN (
           SELECT tenant_id, content_id FROM tenant_crm.document_versions WHERE document_id = $2)`,
        [status, id],
      );
    await scanned('pending');
    expect((await open(link.path).expect(409)).body.error).toBe('scan_pending');
    await scanned('unscannable');
    expect((await open(link.path).expect(409)).body.error).toBe('file_unscannable');
    await scanned('infected');
    await expectEnded(link);
  });
});

test('Wrong tokens get the same response as links that no longer work', async () => {
  const { token } = await linkTo(await documentOf(ada));
  const other = await linkTo(await documentOf(ada));
  const [tenantPart, linkPart, secret] = [
    token.slice(4, 26),
    token.slice(27, 49),
    token.slice(-43),
  ];
  const wrong = [
    'nope',
    '..%2f..%2fetc',
    `tcl_${tenantPart}_${linkPart}_${'A'.repeat(43)}`,
    `tcl_${tenantPart}_${'A'.repeat(22)}_${secret}`,
    `tcl_${'A'.repeat(22)}_${linkPart}_${secret}`,
    `tcl_${tenantPart}_${other.token.slice(27, 49)}_${secret}`,
    // The same ids, spelled with other bits that decoding ignores.
    `tcl_${otherSpelling(tenantPart)}_${linkPart}_${secret}`,
    `tcl_${tenantPart}_${otherSpelling(linkPart)}_${secret}`,
  ];
  for (const one of wrong) {
    const { status, body } = await open(`/public/links/${one}`);
    expect([one, status, body]).toEqual([one, 404, notThere]);
  }
});

test('A link does not work while identity does not answer, and works again afterwards', async () => {
  const { path } = await linkTo(await documentOf(ada));
  crm().identity.intercept('rights', () => refusal(500, 'internal_error'));
  const { body, headers } = await open(path).expect(503);
  expect([body.error, headers['retry-after']]).toEqual(['identity_unavailable', '1']);
  crm().identity.restore();
  await open(path).expect(200);
});

describe('With other settings', () => {
  const started: TestCrm[] = [];
  afterEach(() => Promise.all(started.splice(0).map((one) => one.stop())));

  const startWith = async (
    environment: Record<string, string>,
    overrides: Parameters<typeof startCrm>[1] = {},
  ) => {
    const one = await startCrm(environment, overrides);
    started.push(one);
    const headers = one.caller();
    const { body } = await one.http
      .post(documentsPath)
      .set(headers)
      .attach('file', Buffer.from('a'), 'a.txt')
      .expect(201);
    const create = () => one.http.post(`${documentsPath}/${body.data.id}/links`).set(headers);
    return { one, create };
  };

  test('without a client at identity, no link can be created', async () => {
    const { create } = await startWith({ IDENTITY_CLIENT_ID: '', IDENTITY_CLIENT_SECRET: '' });
    const { body } = await create().send({}).expect(503);
    expect(body.error).toBe('identity_client_not_configured');
  });

  test('requests for one link are limited over all addresses, and wrong tokens do not count towards it', async () => {
    const { one, create } = await startWith({ RATE_LIMIT_LINK_TOTAL: '2', TRUSTED_PROXIES: '1' });
    const [{ path }, other] = [
      (await create().send({}).expect(201)).body.data as LinkAnswer,
      (await create().send({}).expect(201)).body.data as LinkAnswer,
    ];
    let host = 0;
    const from = (which: string) => {
      host += 1;
      return request(one.url).get(which).set('X-Forwarded-For', `192.0.2.${host}`);
    };
    const guess = `${path.slice(0, -43)}${'A'.repeat(43)}`;
    for (let n = 0; n < 2; n += 1) await from(guess).expect(404);
    for (let n = 0; n < 2; n += 1) await from(path).expect(200);
    const { body, headers } = await from(path).expect(429);
    expect(body.error).toBe('rate_limited');
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    await from(other.path).expect(200);
  });

  test('requests for links are limited by address, and tokens are not logged', async () => {
    const log = new PassThrough();
    const logger = createLogger('crm', 'debug', log);
    const { one, create } = await startWith({ RATE_LIMIT_LINK: '2' }, { logger });
    const { token, path } = (await create().send({}).expect(201)).body.data as LinkAnswer;
    const guess = () => request(one.url).get(path);
    expect([(await guess()).status, (await guess()).status]).toEqual([200, 200]);
    expect((await guess().expect(429)).body.error).toBe('rate_limited');
    await request(one.url).get(`/nowhere/${token}`).expect(404);
    log.end();
    const lines = await text(log);
    expect(lines).toContain('/public/links/[redacted]');
    expect(lines).not.toContain(token);
    expect(lines).not.toContain(token.slice(-43));
  });
});
