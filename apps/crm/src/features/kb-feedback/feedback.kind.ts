import { bool, described } from '@tessera/fields';
import { requireUser } from '@tessera/resource-server';
import { equals } from '../../records/filters.ts';
import { declareKind } from '../../records/kind.ts';
import type { RecordsOf } from '../../records/records.ts';
import { kbArticle } from '../kb-articles/kb-articles.kind.ts';
import { Feedback, FeedbackInput } from './feedback.schema.ts';

/** Whether articles helped their readers: one vote per person and article. */
export const feedback = declareKind({
  table: 'kb_article_feedback',
  path: '/feedback',
  name: 'vote',
  permissions: {
    list: 'kb_articles.update',
    view: 'kb_articles.view',
    create: 'kb_articles.view',
    update: 'kb_articles.view',
    delete: 'kb_articles.view',
  },
  create: FeedbackInput,
  answer: Feedback,
  parent: { kind: kbArticle, column: 'article_id' },
  deletion: 'permanent',
  sort: { created_at: 'created_at', updated_at: 'updated_at' },
  defaultSort: '-updated_at',
  filters: {
    is_helpful: equals('is_helpful', bool()),
    has_text: equals('has_text', described(bool(), 'Whether the reader wrote a text')),
  },
  rules: {
    create: (_input, { caller }) => ({ user_id: requireUser(caller) }),
  },
});

export type FeedbackRecords = RecordsOf<typeof feedback>;
