import type { RouteTable } from '@tessera/http-kit';
import { type ContentDependencies, contentRoutes } from '../../content/content-routes.ts';
import { type KbArticles, kbArticle } from './kb-articles.kind.ts';

export const kbArticleRoutes = (
  kbArticles: KbArticles,
  dependencies: ContentDependencies,
): RouteTable => contentRoutes(kbArticle, kbArticles, { plural: 'KbArticles', ...dependencies });
