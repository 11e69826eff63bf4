import type pg from 'pg';
import type { SeededTenant } from './accounts.ts';
import { bodyOf, contentText, paragraphs } from './content-texts.ts';
import { copyRows, type Row } from './copy.ts';
import { createRandom, type Language, type Random } from './random.ts';
import { inTransaction } from './transaction.ts';

const DAY_MS = 86_400_000;
/** Apart from those of the other rows of a tenant. */
const RANDOM_PLACE = 3000;
const ROOT_PAGES = 5;
const statuses = ['draft', 'published', 'published', 'published', 'archived'] as const;
const contentTags = ['howto', 'news', 'pricing', 'release', 'security', 'support'];

/** How many texts each tenant gets, and the resource of their permissions. */
const contents = {
  kb_articles: { count: 30, resource: 'kb_articles' },
  blog_posts: { count: 15, resource: 'blog.posts' },
  pages: { count: 15, resource: 'pages' },
} as const;
type ContentTable = keyof typeof contents;
const contentTables = Object.keys(contents) as ContentTable[];

/** The tables that get rows, in the order in which they refer to each other. The history has the revisions. */
export const contentRelatedTables = [
  ...contentTables,
  'kb_article_comments',
  'kb_article_feedback',
  'activities',
  'content_slugs',
  'record_changes',
] as const;
type Rows = Readonly<Record<(typeof contentRelatedTables)[number], Row[]>>;

interface Tenant extends Pick<SeededTenant, 'users' | 'language'> {
  readonly id: string;
  readonly random: Random;
  readonly now: Date;
}

/** A change of a record, in its history. */
const change = (
  { id: tenant_id }: Tenant,
  [table_name, record_id]: readonly [string, string],
  user_id: string,
  [action, version, changed_at]: readonly [string, number, Date],
  changes: object,
): Row => ({
  tenant_id,
  table_name,
  record_id,
  changed_at,
  version,
  action,
  actor_type: 'user',
  user_id,
  changes: JSON.stringify(changes),
});

/** Comments on an article, the second of which replies to the first, and votes of other users. */
const addReaders = (rows: Rows, tenant: Tenant, article_id: string, published: Date): void => {
  const { id: tenant_id, users, language, random } = tenant;
  const at = (days: number): Date =>
    new Date(Math.min(published.getTime() + days * DAY_MS, tenant.now.getTime()));
  let thread: string | null = null;
  for (const days of [1, 2, 3]) {
    const id = random.uuid(at(days));
    const parent: string | null = days === 2 ? thread : null;
    const { body, body_html } = bodyOf(paragraphs(random, language, 1));
    rows.kb_article_comments.push({
      id,
      tenant_id,
      created_at: at(days),
      updated_at: at(days),
      article_id,
      parent_id: parent,
      thread_id: parent,
      body,
      body_html,
      status: days === 3 && random.chance(0.1) ? 'pending' : 'visible',
      author_type: 'user',
      user_id: random.pick(users),
    });
    thread ??= id;
  }
  for (const user_id of users.slice(0, 10)) {
    const isHelpful = random.chance(0.8);
    rows.kb_article_feedback.push({
      id: random.uuid(at(4)),
      tenant_id,
      created_at: at(4),
      updated_at: at(4),
      article_id,
      user_id,
      is_helpful: isHelpful,
      text: isHelpful ? null : random.somebody(language).faker.lorem.sentence(),
    });
  }
};

interface Place {
  readonly table: ContentTable;
  readonly language: Language;
  /** Slugs in this table and language. */
  readonly taken: Set<string>;
  readonly created: Date;
  /** The group of the text that this one translates. */
  readonly group?: string;
  /** Columns that only this kind has. */
  readonly own?: Row;
}

/** Adds a text with the slug that it is published at, its history and its activity; returns its id. */
const addContent = (rows: Rows, tenant: Tenant, place: Place): string => {
  const { id: tenant_id, users, random } = tenant;
  const { table, language, taken, created, group, own = {} } = place;
  const id = random.uuid(created);
  const author = random.pick(users);
  const text = paragraphs(random, language, 1 + Math.floor(random.next() * 6));
  const content = contentText(random, language, taken, text);
  const status = random.pick(statuses);
  const later = (days: number): Date =>
    new Date(Math.min(created.getTime() + days * DAY_MS, tenant.now.getTime()));
  const [edited, published, archived] = [later(1), later(2), later(30)];
  const [published_at, version, updated_at] = {
    draft: [null, 2, edited] as const,
    published: [published, 3, published] as const,
    archived: [null, 4, archived] as const,
  }[status];
  rows[table].push({
    id,
    tenant_id,
    version,
    created_at: created,
    updated_at,
    ...content,
    slug_follows_title: status === 'draft',
    language,
    translation_group: group ?? id,
    status,
    published_at,
    author_ids: [author],
    tags: contentTags.filter(() => random.chance(0.2)),
    created_by: author,
    ...own,
  });
  const done = (
    at: readonly [string, number, Date],
    changes: object,
    activity?: { readonly action: string; readonly details: object },
  ): void => {
    rows.record_changes.push(change(tenant, [table, id], author, at, changes));
    if (!activity) return;
    rows.activities.push({
      id: random.uuid(at[2]),
      tenant_id,
      created_at: at[2],
      updated_at: at[2],
      action: activity.action,
      resource_type: contents[table].resource,
      resource_id: id,
      actor_type: 'user',
      user_id: author,
      details: JSON.stringify(activity.details),
    });
  };
  done(['create', 1, created], {});
  const former = bodyOf(text.slice(0, -1));
  done(['update', 2, edited], {
    body: [former.body, content.body],
    word_count: [former.body === '' ? 0 : former.word_count, content.word_count],
  });
  if (status === 'draft') return id;
  rows.content_slugs.push({
    tenant_id,
    slug: content.slug,
    kind: table,
    language,
    record_id: id,
    is_current: true,
    created_at: published,
  });
  done(
    ['publish', 3, published],
    { status: ['draft', 'published'], published_at: [null, published] },
    { action: 'published', details: { status_before: 'draft', published_at: published } },
  );
  if (status === 'archived') {
    done(
      ['archive', 4, archived],
      { status: ['published', 'archived'], published_at: [published, null] },
      { action: 'archived', details: { status_before: 'published' } },
    );
  } else if (table === 'kb_articles') addReaders(rows, tenant, id, published);
  return id;
};

/** The texts of one tenant; one in four has a translation. */
const rowsOf = (tenant: Tenant): Rows => {
  const rows = Object.fromEntries(
    contentRelatedTables.map((table) => [table, [] as Row[]]),
  ) as unknown as Rows;
  const { language, now } = tenant;
  const other = language === 'en' ? 'de' : 'en';
  for (const table of contentTables) {
    const taken = { original: new Set<string>(), translated: new Set<string>() };
    const { count } = contents[table];
    const parents: string[] = [];
    for (let index = 0; index < count; index += 1) {
      const created = new Date(now.getTime() - (count - index) * 30 * DAY_MS);
      const parent = parents[index % ROOT_PAGES] ?? null;
      // Keys of fractional-indexing; no parent has more than ten pages here.
      const place = (at: number) =>
        table === 'pages' ? { own: { parent_id: parent, position: `a${at}` } } : {};
      const at = Math.floor(index / ROOT_PAGES) * 2 + (parent === null ? index * 2 : 0);
      const common = { table, created } as const;
      const id = addContent(rows, tenant, {
        ...common,
        language,
        taken: taken.original,
        ...place(at),
      });
      if (table === 'pages' && index < ROOT_PAGES) parents.push(id);
      if (index % 4 !== 0) continue;
      addContent(rows, tenant, {
        ...common,
        language: other,
        taken: taken.translated,
        group: id,
        ...place(at + 1),
      });
    }
  }
  return rows;
};

/**
 * Adds articles, posts and pages, with their translations, history, activity, comments and votes, to the tenants that
 * have none of them: all of them or none. Returns the number of texts.
 */
export const seedContents = async (
  pool: pg.Pool,
  tenants: readonly SeededTenant[],
  { seed, now, signal }: { seed: number; now: Date; signal?: AbortSignal | undefined },
): Promise<number> => {
  const none = contentTables.map(
    (table) => `NOT EXISTS (SELECT FROM tenant_crm.${table} WHERE tenant_id = tenant)`,
  );
  const { rows: found } = await pool.query<{ id: string }>(
    `SELECT tenant AS id FROM unnest($1::uuid[]) AS tenant WHERE ${none.join(' AND ')}`,
    [tenants.map(({ id }) => id)],
  );
  const empty = new Set(found.map(({ id }) => id));
  let texts = 0;
  await inTransaction(pool, signal, async (client) => {
    for (const [place, { id, users, language }] of tenants.entries()) {
      if (!empty.has(id) || users.length === 0) continue;
      const random = createRandom(seed, RANDOM_PLACE, place);
      const rows = rowsOf({ id, users, language, random, now });
      for (const table of contentRelatedTables) {
        await copyRows(client, `tenant_crm.${table}`, rows[table], signal);
      }
      texts += contentTables.reduce((sum, table) => sum + rows[table].length, 0);
    }
  });
  await pool.query(
    `ANALYZE ${contentRelatedTables.map((table) => `tenant_crm.${table}`).join(', ')}`,
  );
  return texts;
};
