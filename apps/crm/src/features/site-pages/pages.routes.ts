import type { RouteTable } from '@tessera/http-kit';
import { type ContentDependencies, contentRoutes } from '../../content/content-routes.ts';
import { type Pages, page } from './pages.kind.ts';

export const pageRoutes = (pages: Pages, dependencies: ContentDependencies): RouteTable =>
  contentRoutes(page, pages, { plural: 'Pages', ...dependencies });
