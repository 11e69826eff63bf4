import type { Exports, RouteTable } from '@tessera/http-kit';
import { contentRoutes } from '../../content/content-routes.ts';
import type { Database } from '../../database.ts';
import { type KbArticles, kbArticle } from './kb-articles.kind.ts';

export const kbArticleRoutes = (
  kbArticles: KbArticles,
  database: Database,
  exports: Exports,
): RouteTable => contentRoutes(kbArticle, kbArticles, { plural: 'KbArticles', exports, database });
