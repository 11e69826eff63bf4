import {
  bool,
  described,
  int,
  list,
  named,
  nullable,
  optional,
  shape,
  text,
  uuid,
  withDefault,
} from '@tessera/fields';
import { empty, type RouteTable } from '@tessera/http-kit';
import { contentStatus, slug } from '../../content/content.schema.ts';
import { type ContentDependencies, contentRoutes } from '../../content/content-routes.ts';
import { record, route } from '../../http.ts';
import { recordRoutes } from '../../records/routes.ts';
import { acceptedVersions, changeProblems } from '../../records/versions.ts';
import { page } from './pages.kind.ts';
import { MAX_LEVELS, movePage, type PageMove } from './pages.rules.ts';
import { MAX_TREE, type PageService } from './pages.service.ts';

const TreePage = named(
  'TreePage',
  shape({
    id: uuid(),
    parent_id: nullable(uuid()),
    depth: described(int(1, 100), 'The level; 1 has no parent'),
    title: text(200),
    slug,
    language: text(35),
    status: contentStatus,
  }),
);

const place = (description: string) => described(optional(nullable(uuid())), description);

const Move = named(
  'PageMove',
  shape({
    parent_id: place('The page above; null is the root. Default: the present one.'),
    before_id: place('The page below the same parent that is to follow'),
    after_id: place('The page below the same parent that is to precede'),
  }),
);

export const pageRoutes = (
  { pages, readTree, deletePage }: PageService,
  dependencies: ContentDependencies,
): RouteTable => {
  const routes = recordRoutes(page, pages);
  return {
    // Before the routes of one page, whose paths would match as well.
    getPageTree: route({
      method: 'get',
      path: '/pages/tree',
      permission: 'pages.list',
      resource: 'page',
      summary: 'Show the tree of pages',
      description: `Each page is followed by those below it, in their order. A request for more than ${MAX_TREE} pages is a 422: request fewer levels, or the tree by branch.`,
      query: shape({
        parent_id: described(optional(uuid()), 'Only what is below this page'),
        levels: described(
          withDefault(int(1, MAX_LEVELS), MAX_LEVELS),
          'Only this many levels of what is requested',
        ),
      }),
      responses: { 200: record(shape({ pages: list(TreePage, { max: MAX_TREE }) })) },
      handler: async ({ caller, query: { parent_id: parentId = null, levels }, reply }) =>
        reply(200, { data: { pages: await readTree(caller, { parentId, levels }) } }),
    }),
    ...contentRoutes(page, pages, { plural: 'Pages', ...dependencies }),
    restorePage: routes.restore({
      description:
        'With the pages that were deleted with it. Each gets another slug if its own is taken.',
      problems: {
        409: 'Another page has the language of one of them, or the page above is deleted',
      },
    }),
    movePage: routes.action<PageMove>({
      name: 'move',
      summary: 'Move a page',
      description:
        'Puts it below `parent_id`, before or after one of the pages there, or at their end if neither `before_id` nor `after_id` is given.',
      body: Move,
      rule: movePage,
    }),
    deletePage: route({
      method: 'delete',
      path: '/pages/{id}',
      permission: 'pages.delete',
      resource: 'page',
      summary: 'Delete a page',
      description:
        'It can be restored, with what was deleted with it. If it or a page below it is published or scheduled, this also requires `pages.publish`.',
      params: shape({ id: uuid() }),
      query: shape({
        force: described(
          withDefault(bool(), false),
          'Whether to delete the pages below it as well',
        ),
      }),
      responses: { 204: empty },
      requestHeaders: ['If-Match'],
      problems: { ...changeProblems, 409: 'There are pages below it' },
      handler: async ({ caller, params: { id }, query: { force }, req, reply }) => {
        await deletePage(caller, id, force, acceptedVersions(req.get('If-Match')));
        return reply(204);
      },
    }),
  };
};
