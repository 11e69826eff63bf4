import { gzipSync } from 'node:zlib';
import { seedContacts } from '@tessera/seeding';
import { type Noise, type NoisyAccess, type NoisyTenant, repeatedly } from '../noise.ts';
import { dataOf } from '../sender.ts';

const LENGTH = 100_000;
const filled = (part: string): string =>
  part.repeat(Math.ceil(LENGTH / part.length)).slice(0, LENGTH);

/** Creates a record of the noisy tenant. */
const create = async (
  { sender, crm, tokens }: NoisyAccess,
  path: string,
  json: object,
): Promise<{ readonly id: string }> =>
  dataOf(
    await sender.send({ method: 'POST', url: `${crm}/api/crm/${path}`, token: tokens.owner, json }),
    path,
  );

/** Copies a task in the database, each to a place of its own in its column. */
const copyTask = async (
  { pool, system }: NoisyTenant,
  id: string,
  count: number,
): Promise<void> => {
  const { rows } = await pool.query<{ columns: string }>(
    `SELECT string_agg(quote_ident(column_name), ', ') AS columns FROM information_schema.columns
     WHERE table_schema = 'tenant_crm' AND table_name = 'tasks' AND is_generated = 'NEVER'
       AND column_name NOT IN ('id', 'rank')`,
  );
  const columns = rows[0]?.columns ?? '';
  await pool.query(
    `INSERT INTO tenant_crm.tasks (id, rank, ${columns})
     SELECT gen_random_uuid(), rank || n || 'V', ${columns}
     FROM tenant_crm.tasks task, generate_series(1, $3::int) n
     WHERE task.tenant_id = $1 AND task.id = $2`,
    [system.owner.tenant_id, id, count],
  );
};

const tasks = Array.from({ length: 500 }, (_, at) => ({
  op: 'create',
  body: { title: `T ${at}` },
}));

const batches: Noise<NoisyAccess> = {
  name: 'noisy-batches',
  title: 'CRM: batches of 500 tasks on 14 connections',
  make: (tenant, signal) =>
    repeatedly(tenant, signal, { connections: 14 }, () => ({
      method: 'POST',
      url: `${tenant.crm}/api/crm/tasks/batch`,
      token: tenant.tokens.owner,
      json: { operations: tasks },
    })),
};

const MERGED = 6;

let merged: { readonly survivor: string; readonly others: readonly string[] };

const merges: Noise = {
  name: 'noisy-merges',
  title: 'CRM: merges of contacts with 10,000 tasks each on 14 connections',
  async prepare(tenant) {
    const survivor = (await create(tenant, 'contacts', { first_name: 'Survivor' })).id;
    const others: string[] = [];
    for (let contact = 0; contact < MERGED; contact += 1) {
      const { id } = await create(tenant, 'contacts', { first_name: `Merged ${contact}` });
      const { id: task } = await create(tenant, 'tasks', { title: 'Call', contact_id: id });
      await copyTask(tenant, task, 10_000);
      others.push(id);
    }
    merged = { survivor, others };
  },
  make: (tenant, signal) =>
    repeatedly(tenant, signal, { connections: 14 }, (count) => ({
      method: 'POST',
      url: `${tenant.crm}/api/crm/contacts/${merged.survivor}/merge`,
      token: tenant.tokens.owner,
      json: { contact_id: merged.others[count % MERGED] },
    })),
};

/** With the tag of the first company, almost as many different tags as a tenant may have. */
const TAGGED = 199;
const TAGS_EACH = 50;

const tags: Noise = {
  name: 'noisy-tags',
  title: 'CRM: 12 searches at once in companies with 10,000 distinct tags, the most of a tenant',
  async prepare(tenant) {
    const { id } = await create(tenant, 'companies', { name: 'Tagged', tags: ['a tag'] });
    await tenant.pool.query(COPY_COMPANIES, [tenant.system.owner.tenant_id, id, TAGGED, TAGS_EACH]);
  },
  make: (tenant, signal) =>
    repeatedly(tenant, signal, { connections: 12 }, (count) => ({
      url: `${tenant.crm}/api/crm/companies?search=${count}a`,
      token: tenant.tokens.owner,
    })),
};

const COPY_COMPANIES = `
  INSERT INTO tenant_crm.companies (id, tenant_id, name, tags)
  SELECT gen_random_uuid(), company.tenant_id, 'Company ' || n,
    (SELECT array_agg('tag ' || n || ' ' || tag) FROM generate_series(1, $4::int) tag)
  FROM tenant_crm.companies company, generate_series(1, $3::int) n
  WHERE company.tenant_id = $1 AND company.id = $2`;

const articles: Noise<NoisyAccess> = {
  name: 'noisy-articles',
  title: 'CRM: 12 connections save articles of 100 KB of links',
  make: (tenant, signal) =>
    repeatedly(tenant, signal, { connections: 12 }, (count) => ({
      method: 'POST',
      url: `${tenant.crm}/api/crm/kb-articles`,
      token: tenant.tokens.owner,
      json: { title: `Links ${count}`, body: filled(`[${count}](http://a.b/${count}) `) },
    })),
};

/** Many short values cost more than few long ones. */
const TAGS = Array.from({ length: 50 }, (_, at) => `tag ${at}`);
const EMAILS = Array.from({ length: 20 }, (_, at) => ({
  email: `someone.${at}@example.com`,
  label: 'work',
}));

const refusedBody = gzipSync(
  JSON.stringify({
    operations: Array.from({ length: 500 }, () => ({
      op: 'create',
      body: { first_name: 'A', emails: EMAILS, tags: TAGS },
    })),
  }),
);

const refused: Noise<NoisyAccess> = {
  name: 'noisy-refused',
  title: 'CRM: a viewer sends batches of 0.9 MB, compressed, which are refused',
  make: (tenant, signal) =>
    repeatedly(tenant, signal, { connections: 8 }, () => ({
      method: 'POST',
      url: `${tenant.crm}/api/crm/contacts/batch`,
      token: tenant.tokens.viewer,
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
      body: refusedBody,
    })),
};

let compared: string;

const diffs: Noise<NoisyAccess> = {
  name: 'noisy-diffs',
  title: 'CRM: differences of two revisions of 100 KB of line breaks',
  async prepare(tenant) {
    const { id } = await create(tenant, 'kb-articles', {
      title: 'Breaks',
      body: `a${filled('\n')}`.slice(0, LENGTH),
    });
    const updated = await tenant.sender.send({
      method: 'PUT',
      url: `${tenant.crm}/api/crm/kb-articles/${id}`,
      token: tenant.tokens.owner,
      json: { body: `b${filled('a\n')}`.slice(0, LENGTH) },
    });
    dataOf(updated, 'change an article');
    compared = id;
  },
  make: (tenant, signal) =>
    repeatedly(tenant, signal, { connections: 8 }, () => ({
      url: `${tenant.crm}/api/crm/kb-articles/${compared}/revisions/diff`,
      token: tenant.tokens.owner,
    })),
};

const feeds: Noise = {
  name: 'noisy-feeds',
  title: 'CRM: anonymous requests of feed.rss with 30 long posts, ten at once',
  async prepare(tenant) {
    const settings = await tenant.sender.send({
      method: 'PUT',
      url: `${tenant.crm}/api/crm/settings`,
      token: tenant.tokens.owner,
      json: { public_reading: true },
    });
    dataOf(settings, 'settings');
    for (let post = 0; post < 30; post += 1) {
      await create(tenant, 'blog-posts', {
        title: `Post ${post}`,
        body: filled(`*${post}* &<\n\n`),
      });
    }
    await tenant.pool.query(
      "UPDATE tenant_crm.blog_posts SET status = 'published', published_at = now() WHERE tenant_id = $1",
      [tenant.system.owner.tenant_id],
    );
  },
  make: (tenant, signal) =>
    repeatedly(tenant, signal, { connections: 10, perMinute: 60 }, () => ({
      url: `${tenant.crm}/public/${tenant.system.owner.tenant_slug}/feed.rss`,
    })),
};

/** Lists and exports of much, which the default limits allow. */
const lists: Noise = {
  name: 'noisy-lists',
  title: 'CRM: exports of 50,000 contacts and deep pages of them on 14 connections',
  async prepare(tenant) {
    await seedContacts(tenant.pool, { tenantId: tenant.system.owner.tenant_id, count: 50_000 });
  },
  make: (tenant, signal) =>
    repeatedly(tenant, signal, { connections: 14 }, (count) => ({
      url: `${tenant.crm}/api/crm/contacts${count % 2 === 0 ? '/export' : `?per_page=100&page=${400 - (count % 100)}&search=a`}`,
      token: tenant.tokens.owner,
    })),
};

export const requestNoises: readonly Noise[] = [
  batches,
  merges,
  tags,
  articles,
  refused,
  diffs,
  feeds,
  lists,
];

/** Those that need nothing but accounts. */
export const plainRequestNoises: readonly Noise<NoisyAccess>[] = [
  batches,
  articles,
  refused,
  diffs,
];
