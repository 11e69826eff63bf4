import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { until } from '@tessera/local-stack';
import type { Person } from '@tessera/resource-server/testing';
import { documentsPath, documentUploader, foldersPath } from '../testing/documents.ts';
import { tenantForEachTest } from '../testing/tenant.ts';

const testTenant = tenantForEachTest();
const { crm, tenant, get, post } = testTenant;
const upload = documentUploader(testTenant);

const everything = [{ action: '*', effect: 'allow' as const }];

const signIn = (): Person =>
  crm().identity.signIn({ policies: everything, tenants: [tenant()], type: 'user' });

/** Begins a request of a person, whose body the test sends. */
const begin = (
  { headers }: Person,
  method: string,
  path: string,
  further: Readonly<Record<string, string>> = {},
): ClientRequest => {
  const sent = request(`${crm().url}${path}`, { method, headers: { ...headers, ...further } });
  sent.on('error', () => undefined);
  return sent;
};

const responseTo = async (req: ClientRequest): Promise<IncomingMessage> =>
  ((await once(req, 'response')) as [IncomingMessage])[0];

const errorOf = async (req: ClientRequest) => {
  const res = await responseTo(req);
  return { status: res.statusCode, error: JSON.parse(await text(res)).error };
};

const query = async (statement: string): Promise<Record<string, unknown>[]> =>
  (await crm().context.pool.query(statement, [tenant().id])).rows;

const pendingFiles = () => query('SELECT id FROM tenant_crm.pending_files WHERE tenant_id = $1');

/** The files of the tenant in the store. */
const storedFiles = (): string[] => {
  const { path } = crm().context.config.files;
  const own = join(path, tenant().id);
  const complete = existsSync(own)
    ? readdirSync(own, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    : [];
  const incoming = readdirSync(join(path, '.incoming')).filter((name) =>
    name.startsWith(tenant().id),
  );
  return [...complete.map(({ name }) => name), ...incoming];
};

const FORM = { 'Content-Type': 'multipart/form-data; boundary=x' };
const formWith = (fields: Readonly<Record<string, string>> = {}): string =>
  [
    ...Object.entries(fields).map(
      ([name, value]) =>
        `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    ),
    '--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\nContent-Type: text/csv\r\n\r\n',
  ].join('');

const document = async (content: string | Buffer = 'hello', fields = {}): Promise<string> =>
  (await upload({ content, fields, type: 'application/octet-stream' }).expect(201)).body.data.id;

const channel = async (): Promise<string> =>
  (await post('/api/crm/channels', { name: 'General' }).expect(201)).body.data.id;

const beginTus = async ({ headers }: Person, size: number): Promise<string> => {
  const { headers: answered } = await post(`${documentsPath}/uploads`, null, {
    ...headers,
    'Tus-Resumable': '1.0.0',
    'Upload-Length': `${size}`,
  }).expect(201);
  return String(answered.location);
};

interface Uploading {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly beginning: string;
}

/** More than is read to detect the type of a file. */
const CONTENT = `first_name\n${'Ada\n'.repeat(5000)}`;

const kinds: Readonly<Record<string, (person: Person) => Promise<Uploading>>> = {
  'a document by form': async () => ({
    method: 'POST',
    path: documentsPath,
    headers: FORM,
    beginning: formWith() + CONTENT,
  }),
  'a content': async () => ({
    method: 'PUT',
    path: `${documentsPath}/${await document()}/content`,
    headers: { 'Content-Type': 'text/csv' },
    beginning: CONTENT,
  }),
  'a resumable upload': async (person) => ({
    method: 'PATCH',
    path: await beginTus(person, 100_000),
    headers: {
      'Tus-Resumable': '1.0.0',
      'Upload-Offset': '0',
      'Content-Type': 'application/offset+octet-stream',
    },
    beginning: CONTENT,
  }),
  'a file of a message': async () => ({
    method: 'POST',
    path: `/api/crm/channels/${await channel()}/upload`,
    headers: FORM,
    beginning: formWith() + CONTENT,
  }),
  'an import': async () => ({
    method: 'POST',
    path: '/api/crm/imports',
    headers: FORM,
    beginning: formWith({ resource: 'contacts' }) + CONTENT,
  }),
};

/** What takes away the access of a person, and the response to what they are doing. */
const losses: readonly [string, number, (person: Person) => unknown][] = [
  ['the token is revoked', 401, (person) => crm().identity.revoke(person)],
  ['the user is deactivated', 401, (person) => crm().identity.remove(person)],
  ['the role loses the permission', 403, (person) => crm().identity.setPolicies(person, [])],
];

describe.each(Object.entries(kinds))('An upload of %s', (_kind, uploadingBy) => {
  test.each(losses)('ends and leaves nothing behind when %s', async (_loss, status, lose) => {
    const person = signIn();
    const { method, path, headers, beginning } = await uploadingBy(person);
    const before = storedFiles();
    const req = begin(person, method, path, headers);
    const answer = errorOf(req);
    req.write(beginning);
    // The service has authorized the request, and reads its body.
    if (!path.includes('imports')) await until(async () => (await pendingFiles()).length > 0);
    else await until(() => crm().identity.count('/api/policies') > 0);
    lose(person);
    expect(await answer).toMatchObject({ status });
    req.destroy();
    await until(() => storedFiles().length === before.length);
    expect(await query('SELECT id FROM tenant_crm.upload_parts WHERE tenant_id = $1')).toEqual([]);
    expect(await query('SELECT id FROM tenant_crm.messages WHERE tenant_id = $1')).toEqual([]);
    const unfinished = `SELECT id FROM tenant_crm.imports
      WHERE tenant_id = $1 AND status NOT IN ('failed', 'cancelled')`;
    expect(await query(unfinished)).toEqual([]);
  });
});

/** More than the buffers of a connection hold. */
const LARGE = 16 * 1024 * 1024;

/** Begins a download and reads its first bytes only. */
const beginReading = async (req: ClientRequest): Promise<IncomingMessage> => {
  req.end();
  const res = await responseTo(req);
  await once(res, 'readable');
  expect(res.statusCode).toBe(200);
  return res;
};

/** Reads on slowly, which takes longer than until the next check of the access; the response must be cut off. */
const expectCutOff = async (res: IncomingMessage): Promise<void> => {
  let aborted: unknown;
  res.on('error', (error) => {
    aborted = error;
  });
  await until(() => {
    res.read(16_384);
    return aborted !== undefined || res.readableEnded;
  });
  expect([String(aborted), res.complete]).toEqual(['Error: aborted', false]);
};

test('A download ends when the token is revoked', async () => {
  const person = signIn();
  const id = await document(randomBytes(LARGE));
  const res = await beginReading(begin(person, 'GET', `${documentsPath}/${id}/download`));
  crm().identity.revoke(person);
  await expectCutOff(res);
});

test('A download ends when its reader is removed from the private folder', async () => {
  const person = signIn();
  const { body } = await post(foldersPath, { name: 'Private' }).expect(201);
  const folder = body.data.id;
  const members = `${foldersPath}/${folder}/members`;
  const id = await document(randomBytes(LARGE), { folder_id: folder });
  await post(members, { user_id: crypto.randomUUID(), access: 'write' }).expect(201);
  await post(members, { user_id: person.id, access: 'read' }).expect(201);
  const res = await beginReading(begin(person, 'GET', `${documentsPath}/${id}/download`));
  await query(
    `DELETE FROM tenant_crm.document_folder_members WHERE tenant_id = $1 AND user_id = '${person.id}'`,
  );
  await expectCutOff(res);
});

test('A download by a link ends when the creator of the link loses access', async () => {
  const creator = signIn();
  const id = await document(randomBytes(LARGE));
  const { body } = await post(`${documentsPath}/${id}/links`, {}, creator.headers).expect(201);
  const res = await beginReading(request(`${crm().url}${body.data.path}`));
  crm().identity.setPolicies(creator, []);
  await expectCutOff(res);
});

test('An export ends when the token is revoked', async () => {
  await query(`
    INSERT INTO tenant_crm.companies (tenant_id, id, name, notes)
    SELECT $1, gen_random_uuid(), 'Company ' || n, repeat(md5(n::text), 150)
    FROM generate_series(1, 6000) AS n`);
  const person = signIn();
  const res = await beginReading(begin(person, 'GET', '/api/crm/companies/export'));
  crm().identity.revoke(person);
  await expectCutOff(res);
});

test('An upload whose caller keeps another right than the one of its folder is refused at its end', async () => {
  const person = signIn();
  const { body } = await post(foldersPath, { name: 'Private' }).expect(201);
  const members = `${foldersPath}/${body.data.id}/members`;
  await post(members, { user_id: crypto.randomUUID(), access: 'write' }).expect(201);
  await post(members, { user_id: person.id, access: 'write' }).expect(201);
  const req = begin(person, 'POST', documentsPath, FORM);
  const answer = errorOf(req);
  req.write(formWith({ folder_id: body.data.id }) + CONTENT);
  await until(async () => (await pendingFiles()).length > 0);
  await query(
    `DELETE FROM tenant_crm.document_folder_members WHERE tenant_id = $1 AND user_id = '${person.id}'`,
  );
  req.end('\r\n--x--\r\n');
  expect((await answer).status).toBeGreaterThanOrEqual(403);
  expect((await get(documentsPath)).body.meta.total).toBe(0);
});
