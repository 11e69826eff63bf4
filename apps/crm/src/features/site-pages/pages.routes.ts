import type { Exports, RouteTable } from '@tessera/http-kit';
import { contentRoutes } from '../../content/content-routes.ts';
import type { Database } from '../../database.ts';
import { type Pages, page } from './pages.kind.ts';

export const pageRoutes = (pages: Pages, database: Database, exports: Exports): RouteTable =>
  contentRoutes(page, pages, { plural: 'Pages', exports, database });
