import { unpublishAction } from '../../content/publishing/publishing.routes.ts';
import type { Database } from '../../database.ts';
import type { Caller } from '../../http.ts';
import { actorOf } from '../../records/actor.ts';
import { lockedRecords } from '../../records/locked-records.ts';
import { createRecords } from '../../records/records.ts';
import { type Pages, page } from './pages.kind.ts';
import {
  deleteBelow,
  lockPages,
  publicationsBelow,
  readPages,
  type TreeRow,
} from './pages.repository.ts';

/** A page in the tree, and on which level it is. */
export interface TreePage extends TreeRow {
  readonly depth: number;
}

/** The tree shows at most this many pages. */
export const MAX_TREE = 5000;

/** Pages, and their tree. */
export interface PageService {
  readonly pages: Pages;
  /** All pages, each followed by those below it, in their order. */
  readTree(caller: Caller): Promise<TreePage[]>;
  /** Deletes a page; with `force` also those below it, which are restored with it. */
  deletePage(
    caller: Caller,
    id: string,
    force: boolean,
    versions?: readonly number[],
  ): Promise<void>;
}

/** Rows in the order of their positions, as a tree. */
const arrange = (rows: readonly TreeRow[]): TreePage[] => {
  const children = new Map<string | null, TreeRow[]>();
  for (const row of rows) {
    const siblings = children.get(row.parent_id);
    if (siblings) siblings.push(row);
    else children.set(row.parent_id, [row]);
  }
  const arranged: TreePage[] = [];
  const add = (parentId: string | null, depth: number): void => {
    for (const row of children.get(parentId) ?? []) {
      arranged.push(Object.assign({ depth }, row));
      add(row.id, depth + 1);
    }
  };
  add(null, 1);
  return arranged;
};

export const createPages = (database: Pick<Database, 'forTenant' | 'transaction'>): PageService => {
  const unpublish = unpublishAction({ table: 'pages', resource: 'pages' });
  const pages = lockedRecords(createRecords(page, database), database, lockPages);
  return {
    pages,

    async readTree({ tenantId }) {
      return arrange(await readPages(database.forTenant(tenantId), MAX_TREE));
    },

    deletePage: (caller, id, force, versions) =>
      database.transaction(caller.tenantId, async (db) => {
        await lockPages(db);
        if (force) {
          await pages.get(caller, id);
          // Restored pages are drafts, and the activity log says what is no longer public.
          for (const published of await publicationsBelow(db, id)) {
            await pages.act(caller, published, unpublish, {}, undefined);
          }
          await deleteBelow(db, id, actorOf(caller));
        }
        await pages.delete(caller, id, versions);
      }),
  };
};
