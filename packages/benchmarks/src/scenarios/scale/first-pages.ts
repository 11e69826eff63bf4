import type { ScaleBench, ScaleScenario, ScaleTenant } from '../../scale/bench.ts';
import { besideSql, type ListCase } from '../../scale/comparison.ts';
import { UnexpectedResponses } from '../../scenario.ts';
import { PER_PAGE } from './table.ts';

/** A list whose first page is measured. */
interface FirstPage {
  /** The path below `/api/crm`; `{id}` is a parent. */
  readonly path: string;
  readonly table: string;
  /** The value of the parameter `sort`. */
  readonly sort: string;
  /** The columns that it orders by. */
  readonly order: string;
  /** The table of the parents, and the column with a parent's id. */
  readonly parent?: readonly [table: string, column: string];
  /** The field that identifies a record below its parent. Default: `id`. */
  readonly key?: string;
  /** The columns that a response needs. Default: all. */
  readonly columns?: string;
  /** Whether the table keeps deleted rows. Default: true unless there is a parent. */
  readonly keepsDeleted?: boolean;
  /** Whether triggers keep the number of the rows. Default: true unless there is a parent. */
  readonly isCounted?: boolean;
}

const CONTENT =
  'id, version, created_at, updated_at, title, slug, language, translation_group, summary, word_count, status, published_at, scheduled_at, author_ids, tags, cover_document_id, created_by';

/** The kept number of rows that belong to an article. */
const countOfArticle = (table: string, column: string): string => `
  (SELECT coalesce(sum(count), 0)::int FROM tenant_crm.record_counts
   WHERE table_name = '${table}' AND tenant_id = $1::uuid
     AND scope_column = '${column}' AND scope_id = row.id) AS ${column}`;

/** Articles, posts and pages without their texts. */
const contents = (path: string, table: string, more: readonly string[] = []): FirstPage => ({
  path,
  table,
  columns: [CONTENT, ...more].join(', '),
  sort: '-created_at',
  order: 'created_at DESC, id DESC',
});

const firstPages: readonly FirstPage[] = [
  {
    path: '/communication-logs',
    table: 'communication_logs',
    sort: '-happened_at',
    order: 'happened_at DESC, id DESC',
  },
  {
    path: '/tasks',
    table: 'tasks',
    sort: '-created_at',
    order: 'created_at DESC, id DESC',
  },
  {
    path: '/projects',
    table: 'projects',
    sort: '-created_at',
    order: 'created_at DESC, id DESC',
  },
  {
    path: '/projects/{id}/members',
    table: 'project_members',
    parent: ['projects', 'project_id'],
    key: 'user_id',
    sort: 'created_at',
    order: 'created_at, id',
  },
  {
    path: '/time-entries',
    table: 'time_entries',
    sort: '-started_at',
    order: 'started_at DESC, id DESC',
  },
  {
    path: '/leave-requests',
    table: 'leave_requests',
    sort: '-first_day',
    order: 'first_day DESC, id DESC',
  },
  {
    path: '/custom-fields',
    table: 'custom_fields',
    sort: 'position',
    order: 'position, id',
    isCounted: false,
  },
  { path: '/document-folders', table: 'document_folders', sort: 'name', order: 'sort_name, id' },
  {
    path: '/document-folders/{id}/members',
    table: 'document_folder_members',
    parent: ['document_folders', 'folder_id'],
    key: 'user_id',
    sort: 'created_at',
    order: 'created_at, id',
  },
  {
    path: '/channels',
    table: 'channels',
    sort: 'name',
    order: 'sort_name, id',
    // The list counts the channels that the caller sees.
    isCounted: false,
  },
  {
    path: '/channels/{id}/participants',
    table: 'channel_participants',
    parent: ['channels', 'channel_id'],
    key: 'user_id',
    sort: 'created_at',
    order: 'created_at, id',
  },
  { path: '/bots', table: 'bots', sort: 'name', order: 'sort_name, id' },
  {
    path: '/channels/{id}/bots',
    table: 'channel_bots',
    parent: ['channels', 'channel_id'],
    key: 'bot_id',
    sort: 'created_at',
    order: 'created_at, id',
  },
  contents('/kb-articles', 'kb_articles', [
    countOfArticle('kb_article_comments', 'visible_article_id'),
    countOfArticle('kb_article_feedback', 'helpful_article_id'),
    countOfArticle('kb_article_feedback', 'not_helpful_article_id'),
  ]),
  contents('/blog-posts', 'blog_posts'),
  contents('/pages', 'pages', ['parent_id']),
  {
    path: '/kb-article-comments',
    table: 'kb_article_comments',
    sort: '-created_at',
    order: 'created_at DESC, id DESC',
  },
  {
    path: '/kb-articles/{id}/comments',
    table: 'kb_article_comments',
    parent: ['kb_articles', 'article_id'],
    sort: 'created_at',
    order: 'created_at, id',
  },
  {
    path: '/kb-articles/{id}/feedback',
    table: 'kb_article_feedback',
    parent: ['kb_articles', 'article_id'],
    sort: '-updated_at',
    order: 'updated_at DESC, id DESC',
  },
  {
    path: '/activity',
    table: 'activities',
    keepsDeleted: false,
    sort: '-created_at',
    order: 'created_at DESC, id DESC',
  },
];

/** A parent with rows in the table. */
const parentIn = async (
  { database }: ScaleBench,
  { table }: FirstPage,
  column: string,
  { tenantId }: ScaleTenant,
): Promise<string> => {
  const { rows } = await database.query<{ id: string }>(
    `SELECT min(${column}::text) AS id FROM tenant_crm.${table} WHERE tenant_id = $1`,
    [tenantId],
  );
  const id = rows[0]?.id;
  if (!id) throw new UnexpectedResponses(`${table}: the seed has no rows.`);
  return id;
};

const liveIn = ({ parent, keepsDeleted = !parent }: FirstPage): string =>
  keepsDeleted ? 'AND deleted_at IS NULL' : '';

const totalOf = ({ table, parent, isCounted = !parent }: FirstPage, condition: string): string =>
  isCounted
    ? `(SELECT coalesce(sum(count), 0)::int FROM tenant_crm.record_counts
        WHERE table_name = '${table}' AND tenant_id = $1::uuid
          AND scope_column = '' AND scope_id = $1::uuid)`
    : `(SELECT count(*)::int FROM tenant_crm.${table} WHERE ${condition})`;

interface Page {
  readonly data: readonly Readonly<Record<string, unknown>>[];
  readonly meta: { readonly total: number };
}

/** Fails unless both have the same records in the same order, and the same total; a page without any shows nothing. */
const samePage =
  ({ path, key = 'id' }: FirstPage) =>
  (answer: Page, rows: Pick<Page, 'data'>): void => {
    const of = ({ data }: Pick<Page, 'data'>): string => data.map((row) => row[key]).join();
    if (answer.data.length === 0) throw new UnexpectedResponses(`${path}: the seed has no rows.`);
    if (of(answer) !== of(rows) || answer.meta.total !== rows.data[0]?.total) {
      throw new UnexpectedResponses(`${path}: the floor has ${of(rows)}, the list ${of(answer)}`);
    }
  };

const caseOf = async (bench: ScaleBench, list: FirstPage): Promise<ListCase> => {
  const { path, table, sort, order, parent, columns = 'row.*' } = list;
  const tenant = bench.large;
  const parentId = parent && (await parentIn(bench, list, parent[1], tenant));
  const condition = `tenant_id = $1::uuid ${parent ? `AND ${parent[1]} = $2::uuid` : ''} ${liveIn(list)}`;
  return {
    what: `${path.slice(1)}, first page`,
    tenant,
    path: `${path.slice(1).replace('{id}', parentId ?? '')}?sort=${sort}`,
    statement: {
      text: `
        SELECT ${totalOf(list, condition)} AS total, ${columns} FROM tenant_crm.${table} AS row
        WHERE ${condition} ORDER BY ${order} LIMIT ${PER_PAGE}`,
      values: [tenant.tenantId, ...(parentId ? [parentId] : [])],
    },
    check: samePage(list),
  };
};

/** The first page of every list that no other scenario measures. */
export const firstPagesScenario: ScaleScenario = {
  name: 'first pages',
  lists: firstPages.map(({ path }) => path),
  run: async (bench) =>
    besideSql(bench, await Promise.all(firstPages.map((list) => caseOf(bench, list)))),
};
