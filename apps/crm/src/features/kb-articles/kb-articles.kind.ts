import { contentKind } from '../../content/content-kind.ts';
import type { RecordsOf } from '../../records/records.ts';
import { contentLinks } from '../content/content-links.ts';
import { articleCountFields, countedLater } from './article-counts.ts';

/** An article of the knowledge base. */
export const kbArticle = contentKind({
  table: 'kb_articles',
  name: 'article',
  schema: 'KbArticle',
  permissions: 'kb_articles',
  links: contentLinks('kb_articles'),
  input: {},
  answer: articleCountFields,
  computed: countedLater,
  hidden: {},
});

export type KbArticles = RecordsOf<typeof kbArticle>;
