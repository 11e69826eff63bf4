import { described, int } from '@tessera/fields';
import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { completedRecords } from '../../records/completed-records.ts';
import type { KindTypes } from '../../records/kind.ts';
import type { Records } from '../../records/records.ts';
import { keptCount } from '../../records/repository.ts';
import type { TenantSource } from '../../records/scope.ts';
import { revisionOfAll } from '../../records/versions.ts';

const { sql } = Prisma;

const count = int(0, Number.MAX_SAFE_INTEGER);

/** The fields of an article that count what belongs to it; `withArticleCounts` fills them. */
export const articleCountFields = {
  comment_count: described(count, 'How many visible comments the article has'),
  helpful_count: described(count, 'How many readers found the article helpful'),
  not_helpful_count: described(count, 'How many readers did not find the article helpful'),
};

/** The declaration of these fields, which are no columns of articles. */
export const countedLater = {
  comment_count: () => 0,
  helpful_count: () => 0,
  not_helpful_count: () => 0,
};

interface Counts {
  readonly comment_count: number;
  readonly helpful_count: number;
  readonly not_helpful_count: number;
}

interface CountedAnswer extends Counts {
  readonly id: string;
}

/**
 * The counts of articles, in their order. Triggers keep each count in several rows (`keep_count`), so that votes and
 * comments on one article at the same time do not wait for each other.
 */
const readCounts = async (
  db: TenantDb,
  answers: readonly CountedAnswer[],
): Promise<readonly Counts[]> => {
  if (answers.length === 0) return [];
  const kept = (table: string, column: string): Prisma.Sql =>
    keptCount(table, db.tenantId, [column, sql`article.id`]);
  return db.query<Counts>(sql`
    SELECT ${kept('kb_article_comments', 'visible_article_id')} AS comment_count,
      ${kept('kb_article_feedback', 'helpful_article_id')} AS helpful_count,
      ${kept('kb_article_feedback', 'not_helpful_article_id')} AS not_helpful_count
    FROM unnest(${answers.map(({ id }) => id)}::uuid[]) WITH ORDINALITY AS article (id, place)
    ORDER BY place`);
};

/** Counts change without a version of the article, but not without another entity tag. */
const revisionOf = ({ comment_count, helpful_count, not_helpful_count }: Counts): number =>
  revisionOfAll(comment_count, helpful_count, not_helpful_count);

/** The same articles, with their counts. */
export const withArticleCounts = <
  T extends KindTypes & { readonly answer: CountedAnswer; readonly item: CountedAnswer },
>(
  articles: Records<T>,
  source: TenantSource,
): Records<T> =>
  completedRecords(articles, {
    async complete({ tenantId }, answers) {
      const counts = await readCounts(source.forTenant(tenantId), answers);
      return answers.map((answer, index) => Object.assign({}, answer, counts[index]));
    },
    revisionOf,
  });
