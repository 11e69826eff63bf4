import type { Subject, Tenant } from '@tessera/conformance';
import { newTenant } from '@tessera/resource-server/testing';
import type { TestCrm } from './crm.ts';
import { mergesOf } from './merged-contacts.ts';
import type { MessagingServers } from './messaging-servers.ts';
import { previewToken, publishedContent } from './public-content.ts';
import { insertAttempt } from './webhook-rows.ts';

let keys = 0;
let hours = 0;

const TUS = { 'Tus-Resumable': '1.0.0' };
const EMPTY_PART = { 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': '0' };

/** Keys are unique. A public project can be referred to by every caller of the tenant. */
const projectFields = () => {
  keys += 1;
  return { key: `P${keys}`, is_private: false };
};

/** Keys are unique, and a tenant has at most 100. */
const customFieldFields = () => {
  keys += 1;
  return { key: `key_${keys}`, type: 'text', choices: [], is_required: false };
};

/** Names are unique in a folder, and no other folder exists. */
const folderFields = () => {
  keys += 1;
  return { name: `Folder ${keys}`, parent_id: undefined };
};

/** Slugs are unique, and documents are images only if they have the content of one. */
const contentFields = { slug: undefined, cover_document_id: undefined };
/** No other record exists that a new one could translate. */
const newContent = () => ({ ...contentFields, language: 'en', translation_of: undefined });

/** Entries of one user must not overlap, and have either an end or minutes. */
const entryFields = () => {
  hours += 1;
  const started_at = new Date(Date.UTC(2026, 0, 1, hours)).toISOString();
  return { started_at, minutes: 60, ended_at: undefined, task_id: undefined };
};
/** Only callers with a permission create entries for others. */
const newEntryFields = () => {
  const { started_at, minutes } = entryFields();
  return { started_at, minutes, ended_at: undefined, user_id: undefined, task_id: undefined };
};

/** Another number each time. */
const smsTestFields = () => {
  keys += 1;
  return { to: `+3620${1_000_000 + keys}` };
};

/** Another emoji each time: the smileys are consecutive. */
const reactionFields = () => {
  keys += 1;
  return { emoji: String.fromCodePoint(0x1f600 + (keys % 64)) };
};

/** A batch that creates one record. */
const batchOf = (fields: object, text: string) => (): object => {
  keys += 1;
  return { operations: [{ op: 'create', body: { ...fields, [text]: `${keys}` } }] };
};

/** Any content can be a thumbnail. */
export const CONTENTS_AS_THUMBNAILS =
  'UPDATE tenant_crm.file_contents SET thumbnail_id = id WHERE tenant_id = $1';

/** Uploads a document as a new user. */
const newDocument = async (crm: TestCrm, tenant: 'acme' | 'globex') => {
  const caller = crm.caller({ tenant });
  const { body } = await crm.http
    .post('/api/crm/documents')
    .set(caller)
    .attach('file', Buffer.from('a'), 'a.txt');
  return { id: body.data.id as string, caller };
};

const documentInTrash = async (crm: TestCrm, side: Tenant): Promise<string> => {
  const { id, caller } = await newDocument(crm, side === 'own' ? 'acme' : 'globex');
  await crm.http.delete(`/api/crm/documents/${id}`).set(caller).expect(204);
  return id;
};

const folderInTrash = async (crm: TestCrm, side: Tenant): Promise<string> => {
  const caller = crm.caller({ tenant: side === 'own' ? 'acme' : 'globex' });
  const path = '/api/crm/document-folders';
  const name = crypto.randomUUID();
  const { body } = await crm.http.post(path).set(caller).send({ name });
  await crm.http.delete(`${path}/${body.data.id}`).set(caller).expect(204);
  return body.data.id;
};

const documentWithThumbnail = async (crm: TestCrm, side: Tenant): Promise<string> => {
  const tenant = side === 'own' ? 'acme' : 'globex';
  const { id } = await newDocument(crm, tenant);
  await crm.context.pool.query(CONTENTS_AS_THUMBNAILS, [crm.identity[tenant].id]);
  return id;
};

/** The token of a link to a document. */
const linkOf = async (crm: TestCrm, side: Tenant): Promise<string> => {
  const { id, caller } = await newDocument(crm, side === 'own' ? 'acme' : 'globex');
  const { body } = await crm.http.post(`/api/crm/documents/${id}/links`).set(caller).send({});
  return body.data.token;
};

/** The parameters of the path of a message with a file. */
const messageWithFile = async (crm: TestCrm, side: string) => {
  const caller = crm.caller({ tenant: side === 'own' ? 'acme' : 'globex' });
  const { body } = await crm.http.post('/api/crm/channels').set(caller).send({ name: 'Files' });
  const path = `/api/crm/channels/${body.data.id}/upload`;
  const posted = await crm.http
    .post(path)
    .set(caller)
    .attach('file', Buffer.from('hello'), 'a.txt');
  return { id: body.data.id, mid: posted.body.data.id };
};

/** Creates a bot with one channel in each tenant; returns the headers of its requests and the channel. */
const botsOf = (crm: TestCrm) => {
  const create = async (tenant: 'acme' | 'globex') => {
    const caller = crm.caller({ tenant });
    const send = (path: string, body: object) =>
      crm.http.post(`/api/crm${path}`).set(caller).send(body).expect(201);
    const { body: bot } = await send('/bots', { name: 'Builds' });
    const { body: channel } = await send('/channels', { name: 'Builds' });
    await send(`/channels/${channel.data.id}/bots`, { bot_id: bot.data.id });
    return {
      headers: { 'x-bot-token': bot.data.token as string },
      channelId: channel.data.id as string,
    };
  };
  const created = new Map<Tenant, ReturnType<typeof create>>();
  return (side: Tenant): ReturnType<typeof create> => {
    const bot = created.get(side) ?? create(side === 'own' ? 'acme' : 'globex');
    created.set(side, bot);
    return bot;
  };
};

/** The id of a new account whose messages the servers of the test accept. */
const accountOf = async (
  crm: TestCrm,
  servers: MessagingServers,
  { side, path }: { readonly side: Tenant; readonly path: string },
): Promise<string> => {
  const { body } = await crm.http
    .post(path.replace('/{id}/test', ''))
    .set(crm.system(side === 'own' ? 'acme' : 'globex'))
    .send(servers.account(path.includes('/email/') ? 'email' : 'sms'))
    .expect(201);
  return body.data.id;
};

/** The id of a new message of the bot of a tenant. */
const messageOfBot = async (
  crm: TestCrm,
  { headers, channelId }: Awaited<ReturnType<ReturnType<typeof botsOf>>>,
): Promise<string> => {
  const { body } = await crm.http
    .post('/api/crm/webhooks/bot')
    .set(headers)
    .send({ body: 'Hello', channel_id: channelId })
    .expect(201);
  return body.data.id;
};

/** The parameters of the path of a delivery that has ended, and of its attempt. Each tenant has one endpoint. */
const deliveriesOf = (crm: TestCrm) => {
  const endpoints = new Map<string, string>();

  return async (side: Tenant) => {
    const tenant = side === 'own' ? 'acme' : 'globex';
    const caller = crm.caller({ tenant });
    const post = async (path: string, body: object, status: number): Promise<string> => {
      const target = `/api/crm/webhook-endpoints${path}`;
      const { body: created } = await crm.http.post(target).set(caller).send(body).expect(status);
      return created.data.id;
    };
    const input = { url: 'https://example.com/hook', event_types: ['crm.contacts.*'] };
    const endpoint = endpoints.get(tenant) ?? (await post('', input, 201));
    endpoints.set(tenant, endpoint);
    const id = await post(`/${endpoint}/test`, {}, 202);
    const { pool } = crm.context;
    const tenantId = crm.identity[tenant].id;
    await pool.query(
      `UPDATE tenant_crm.webhook_deliveries SET state = 'failed', next_attempt_at = NULL
       WHERE tenant_id = $1 AND id = $2`,
      [tenantId, id],
    );
    return { id, attemptId: await insertAttempt(pool, tenantId, id) };
  };
};

/** The collection of records with the tags of a path, and the required fields of one. */
const taggedRecord = (path: string): readonly [collection: string, fields: object] => {
  if (path.includes('/companies/')) return ['companies', { name: 'A' }];
  if (path.includes('/content-tags/')) return ['kb-articles', { title: 'A' }];
  return ['contacts', { first_name: 'A' }];
};

/** What tests that are made from the OpenAPI document need to know about CRM. */
export const conformanceSubject = (
  crm: TestCrm,
  servers: MessagingServers,
): Omit<Subject, 'document'> => {
  const botOf = botsOf(crm);
  const deliveryOf = deliveriesOf(crm);
  const merges = mergesOf(crm);
  /** No message begins a thread in the channel of the bot. */
  const messageFields = async (side: Tenant) => ({
    channel_id: (await botOf(side)).channelId,
    thread_root_id: undefined,
  });
  return {
    url: crm.url,
    async traces() {
      const { rows } = await crm.context.pool.query(
        `SELECT (SELECT count(*) FROM tenant_crm.record_changes) AS history,
           (SELECT count(*) FROM tenant_crm.chat_events) AS chat,
           (SELECT count(*) FROM tenant_crm.activities) AS activity`,
      );
      return rows;
    },
    bodies: {
      createProject: projectFields,
      updateProject: projectFields,
      createDocumentFolder: folderFields,
      updateDocumentFolder: folderFields,
      createDocument: () => ({ folder_id: undefined }),
      updateDocument: () => ({ folder_id: undefined }),
      createWebhookEndpoint: () => ({ event_types: ['crm.contacts.*'], is_enabled: true }),
      createDocumentLink: () => ({ expires_at: undefined, version_number: undefined }),
      createKbArticlePreview: () => ({ expires_at: undefined }),
      createBlogPostPreview: () => ({ expires_at: undefined }),
      createPagePreview: () => ({ expires_at: undefined }),
      updateStorageQuota: () => ({ quota_bytes: null }),
      moveDocuments: () => ({ document_ids: [], folder_ids: [], folder_id: null }),
      createTimeEntry: newEntryFields,
      startTimer: () => ({ task_id: undefined }),
      updateTimeEntry: entryFields,
      unmergeContact: merges.body,
      createCustomField: customFieldFields,
      updateCustomField: () => ({ choices: undefined, is_required: false }),
      // A message of the same channel.
      createMessage: () => ({ thread_root_id: undefined }),
      // A comment of the same article.
      createKbArticleComment: () => ({ parent_id: undefined }),
      uploadMessageFile: () => ({ thread_root_id: undefined }),
      createReaction: reactionFields,
      testSmsAccount: smsTestFields,
      createBotMessage: messageFields,
      uploadBotMessageFile: messageFields,
      // Only owners appoint others.
      createChannelParticipant: () => ({ role: 'member' }),
      updateChannelParticipant: () => ({ role: 'member' }),
      createImport: () => ({ resource: 'contacts', mapping: '{}', file: 'first_name\nAda\n' }),
      createKbArticle: newContent,
      updateKbArticle: () => contentFields,
      createKbArticleTranslation: () => contentFields,
      createBlogPost: newContent,
      updateBlogPost: () => contentFields,
      createBlogPostTranslation: () => contentFields,
      createPage: () => ({ ...newContent(), parent_id: undefined }),
      updatePage: () => ({ ...contentFields, parent_id: undefined }),
      createPageTranslation: () => ({ ...contentFields, parent_id: undefined }),
      batchContacts: batchOf({ first_name: 'Ada' }, 'notes'),
      batchCompanies: batchOf({ name: 'Engines' }, 'notes'),
      batchTasks: batchOf({ title: 'Call Ada' }, 'description'),
    },
    headers: {
      createDocumentUpload: { ...TUS, 'Upload-Length': '6' },
      createVersionUpload: { ...TUS, 'Upload-Length': '6' },
      getDocumentUpload: TUS,
      getVersionUpload: TUS,
      updateDocumentUpload: { ...TUS, ...EMPTY_PART },
      updateVersionUpload: { ...TUS, ...EMPTY_PART },
      deleteDocumentUpload: TUS,
      deleteVersionUpload: TUS,
    },
    // A required custom field would make the contacts of all other operations invalid.
    callerOutsideTenants: ({ id }) =>
      ['createCustomField', 'updateCustomField'].includes(id)
        ? Promise.resolve(crm.caller({ tenants: [newTenant('acme')] }))
        : undefined,
    // Most messages have no file, and tags exist in records only.
    async parameters(side, path): Promise<Record<string, string>> {
      if (path.endsWith('/unmerge')) return merges.parameters(side);
      if (path.endsWith('/thumbnail')) return { id: await documentWithThumbnail(crm, side) };
      if (path.endsWith('/documents/trash/{id}')) return { id: await documentInTrash(crm, side) };
      if (path.endsWith('/document-folders/trash/{id}')) {
        return { id: await folderInTrash(crm, side) };
      }
      if (path.endsWith('/messages/{mid}/file')) return messageWithFile(crm, side);
      if (path.endsWith('/accounts/{id}/test')) {
        return { id: await accountOf(crm, servers, { side, path }) };
      }
      if (path.includes('/webhooks/bot/messages/{id}')) {
        return { id: await messageOfBot(crm, await botOf(side)) };
      }
      if (path === '/public/links/{token}') return { token: await linkOf(crm, side) };
      if (path.startsWith('/api/crm/webhook-deliveries/')) return deliveryOf(side);
      // Every record has a first revision.
      if (path.includes('/revisions/{number}')) return { number: '1' };
      const tenant = side === 'own' ? 'acme' : 'globex';
      if (path.startsWith('/public/previews/')) return { token: await previewToken(crm, tenant) };
      const [, kind] = /^\/public\/\{tenant\}\/(.+)\/\{slug\}/.exec(path) ?? [];
      if (kind !== undefined) return publishedContent(crm, tenant, kind);
      if (path.startsWith('/public/{tenant}')) return { tenant, number: '1' };
      if (!path.includes('{tag}')) return {};
      const tag = `sample-${crypto.randomUUID()}`;
      const [collection, fields] = taggedRecord(path);
      const body = { ...fields, tags: [tag] };
      const caller = crm.caller({ tenant: side === 'own' ? 'acme' : 'globex' });
      const created = await crm.http.post(`/api/crm/${collection}`).set(caller).send(body);
      return { tag, ...(path.includes('{id}') && { id: created.body.data.id }) };
    },
    // Sends all credentials; each route reads the one it accepts.
    async caller(side, lacking) {
      const tenant = side === 'own' ? 'acme' : 'globex';
      const person = crm.caller({ tenant, ...(lacking !== undefined && { lacking: [lacking] }) });
      return { ...person, ...crm.system(tenant), ...(await botOf(side)).headers };
    },
    client() {
      const pipeline = { type: 'client', id: 'pipeline', tenants: [], scopes: ['*'] } as const;
      const { headers } = crm.identity.signIn(pipeline);
      return { ...headers, ...crm.system(), 'x-tenant': 'acme' };
    },
  };
};
