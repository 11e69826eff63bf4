import { invalidField } from '@tessera/http-kit';
import { createWithdrawals } from '../../content/publishing/withdrawals.ts';
import type { Database } from '../../database.ts';
import type { Caller } from '../../http.ts';
import { actorOf } from '../../records/actor.ts';
import { lockedRecords } from '../../records/locked-records.ts';
import { createRecords } from '../../records/records.ts';
import { requirePermission } from '../../records/require-permission.ts';
import { idsBelow, levelOf } from '../../records/trees.ts';
import { type Pages, page } from './pages.kind.ts';
import {
  type Branch,
  deleteBelow,
  hasPublic,
  readBranch,
  type TreeRow,
} from './pages.repository.ts';
import { MAX_LEVELS } from './pages.rules.ts';
import { lockPages } from './pages-lock.ts';

/** A page in the tree, and on which level it is. */
export interface TreePage extends Omit<TreeRow, 'position'> {
  readonly depth: number;
}

/** The tree shows at most this many pages at a time. */
export const MAX_TREE = 5000;

/** Pages, and their tree. */
export interface PageService {
  readonly pages: Pages;
  /**
   * The pages of a branch, each followed by those below it, in their order. 422 if the branch has more than
   * `MAX_TREE` pages.
   */
  readTree(caller: Caller, branch?: Partial<Branch>): Promise<TreePage[]>;
  /** Deletes a page; with `force` also those below it, which are restored with it. */
  deletePage(
    caller: Caller,
    id: string,
    force: boolean,
    versions?: readonly number[],
  ): Promise<void>;
}

/** Rows as a tree in the order of their positions, which begins below a page on a level. */
const arrange = (rows: readonly TreeRow[], top: string | null, level: number): TreePage[] => {
  const children = new Map<string | null, TreeRow[]>();
  for (const row of rows) {
    const siblings = children.get(row.parent_id);
    if (siblings) siblings.push(row);
    else children.set(row.parent_id, [row]);
  }
  const arranged: TreePage[] = [];
  const add = (parentId: string | null, depth: number): void => {
    const siblings = children.get(parentId) ?? [];
    siblings.sort((one, other) => (one.position < other.position ? -1 : 1));
    for (const { position, ...row } of siblings) {
      arranged.push(Object.assign({ depth }, row));
      add(row.id, depth + 1);
    }
  };
  add(top, level);
  return arranged;
};

const treeTooLarge = () =>
  invalidField(
    'levels',
    `levels must be so few that there are at most ${MAX_TREE} pages; parent_id requests one branch`,
  );

export const createPages = (database: Pick<Database, 'forTenant' | 'transaction'>): PageService => {
  const withdraw = createWithdrawals(page);
  const pages = lockedRecords(createRecords(page, database), database, lockPages);
  return {
    pages,

    async readTree({ tenantId }, { parentId = null, levels = MAX_LEVELS } = {}) {
      const db = database.forTenant(tenantId);
      const rows = await readBranch(db, { parentId, levels }, MAX_TREE + 1);
      if (rows.length > MAX_TREE) throw treeTooLarge();
      const above = parentId === null ? 0 : await levelOf(db, 'pages', parentId);
      return arrange(rows, parentId, above + 1);
    },

    deletePage: (caller, id, force, versions) =>
      database.transaction(caller.tenantId, async (db) => {
        await lockPages(db);
        if (force) {
          await pages.get(caller, id);
          // The lock keeps it as it is. Citus cannot plan a recursion in a statement that changes rows.
          const tree = await idsBelow(db, 'pages', id);
          const below = tree.filter((one) => one !== id);
          if (await hasPublic(db, below)) {
            requirePermission(caller, 'pages.publish', { type: 'page', id });
          }
          const actor = actorOf(caller);
          // Restored pages are drafts, and the activity log says what is no longer public.
          await withdraw(db, actor, below);
          await deleteBelow(db, { id, below }, actor);
        }
        await pages.delete(caller, id, versions);
      }),
  };
};
