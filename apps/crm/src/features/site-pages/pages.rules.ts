import { HttpError, invalidField } from '@tessera/http-kit';
import { generateKeyBetween } from 'fractional-indexing';
import { requireChangeable } from '../../content/content-rules.ts';
import type { PublicationStatus } from '../../content/published.ts';
import type { TenantDb } from '../../database.ts';
import type { Caller } from '../../http.ts';
import { actorOf } from '../../records/actor.ts';
import { heightOf, isWithin, levelOf } from '../../records/trees.ts';
import { hasChildren, isLivePage, pageGaps, restoreBelow } from './pages.repository.ts';
import { findTakenLanguage } from './restored-slugs.ts';

/** How many levels of pages there can be. */
export const MAX_LEVELS = 10;

interface PageState {
  readonly id: string;
  readonly parent_id: string | null;
  readonly position: string;
  readonly status: PublicationStatus;
}

interface Context {
  readonly caller: Caller;
  readonly db: TenantDb;
}

interface PageContext extends Context {
  readonly row: PageState;
}

/** Where a page moves to. */
export interface PageMove {
  readonly parent_id?: string | null | undefined;
  readonly before_id?: string | null | undefined;
  readonly after_id?: string | null | undefined;
}

const requireParent = async (
  db: TenantDb,
  parentId: string | null,
  height: number,
): Promise<void> => {
  if (parentId === null) return;
  if (!(await isLivePage(db, parentId))) {
    throw invalidField('parent_id', 'parent_id must be the id of an existing page');
  }
  if ((await levelOf(db, 'pages', parentId)) + height > MAX_LEVELS) {
    throw invalidField('parent_id', `parent_id must leave at most ${MAX_LEVELS} levels of pages`);
  }
};

/** Throws 422 if a page cannot be below another one: itself, a page below it, or one that is too deep. */
const requireMovable = async (db: TenantDb, id: string, parentId: string | null): Promise<void> => {
  if (parentId !== null && (await isWithin(db, 'pages', parentId, id))) {
    throw invalidField('parent_id', 'parent_id must not be the page itself or a page below it');
  }
  await requireParent(db, parentId, await heightOf(db, 'pages', id));
};

/** A new page is the last one below its parent. */
export const placeNewPage = async (
  { parent_id: parentId = null }: { readonly parent_id?: string | null },
  { db, id }: Context & { readonly id: string },
): Promise<{ readonly position: string }> => {
  await requireParent(db, parentId, 1);
  const { after, before } = await pageGaps.atEnd(db, parentId, id);
  return { position: generateKeyBetween(after, before) };
};

/** With another parent, a page becomes the last one below it. */
export const placeUpdatedPage = async (
  { parent_id: parentId }: { readonly parent_id?: string | null },
  { db, row }: PageContext,
): Promise<{ readonly position?: string }> => {
  if (parentId === undefined || parentId === row.parent_id) return {};
  await requireMovable(db, row.id, parentId);
  const { after, before } = await pageGaps.atEnd(db, parentId, row.id);
  return { position: generateKeyBetween(after, before) };
};

/** Moves a page below another one, before or after one of those that are there, or to their end. */
export const movePage = async ({
  caller,
  db,
  row,
  body,
}: PageContext & { readonly body: PageMove }) => {
  requireChangeable({ name: 'page', resource: 'pages' }, { caller, row });
  const { parent_id = row.parent_id, before_id: beforeId, after_id: afterId } = body;
  if (beforeId != null && afterId != null) {
    throw invalidField('after_id', 'after_id must not be given together with before_id');
  }
  if (parent_id !== row.parent_id) await requireMovable(db, row.id, parent_id);
  const [field, side] =
    beforeId == null ? (['after_id', 'after'] as const) : (['before_id', 'before'] as const);
  const neighbourId = beforeId ?? afterId;
  const gap =
    neighbourId == null
      ? await pageGaps.atEnd(db, parent_id, row.id)
      : await pageGaps.beside(db, parent_id, { side, neighbourId, movedId: row.id });
  if (!gap) throw invalidField(field, `${field} must be the id of another page below the parent`);
  const { after, before } = gap;
  const isThere =
    parent_id === row.parent_id &&
    (after === null || row.position > after) &&
    (before === null || row.position < before);
  return isThere ? {} : { parent_id, position: generateKeyBetween(after, before) };
};

/** Only a page without pages below it is deleted (decision C7). */
export const checkPageDeletion = async ({ db, row }: PageContext): Promise<void> => {
  if (!(await hasChildren(db, row.id))) return;
  throw new HttpError(409, 'conflict', 'There are pages below this page.');
};

/** A restored page is the last one below its parent, which must not be deleted. */
export const placeRestoredPage = async ({ db, row }: PageContext) => {
  if (!(await isLivePage(db, row.parent_id))) {
    throw new HttpError(409, 'conflict', 'The page above is deleted: restore it first.');
  }
  const { after, before } = await pageGaps.atEnd(db, row.parent_id, row.id);
  return { position: generateKeyBetween(after, before), deleted_with: null };
};

/** Restores what was deleted together with a page; 409 if another page has the language of one of them. */
export const followPage = async ({
  action,
  caller,
  db,
  row,
}: PageContext & { readonly action: string }): Promise<void> => {
  if (action !== 'restore') return;
  const taken = await findTakenLanguage(db, row.id);
  if (taken !== undefined) {
    const message = `Another page has taken the language of the page "${taken}", which is below this one.`;
    throw new HttpError(409, 'conflict', message);
  }
  await restoreBelow(db, row.id, actorOf(caller));
};
