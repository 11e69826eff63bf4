import { finished } from 'node:stream/promises';
import type { FileStore, ObjectId, StoredObject } from '@tessera/file-store';
import { objectPath, storedSize } from '@tessera/file-store';
import type { Pool } from 'pg';
import type { Database } from '../database.ts';
import { findContent } from './files.repository.ts';
import { contentsByPath, findOrphans, hasObject, type SweptContent } from './sweep.repository.ts';

/** How many objects or contents are in memory at once. */
const PAGE = 500;

/**
 * Younger objects are not orphans: no upload takes that long, and a database that was restored to an older state by
 * mistake can be restored again before objects are deleted.
 */
const SAFE_AGE_MS = 24 * 3_600_000;

/** What a comparison of the store with the tables finds. */
export interface Differences {
  /** An object, complete or not, that no row refers to. */
  orphan(object: ObjectId): Promise<void>;
  /** A content whose object is missing or has another size, or has not decrypted and still does not. */
  missing(content: SweptContent): Promise<void>;
  /** A content whose object was missing and is there again. */
  found(content: SweptContent): Promise<void>;
}

/** What `compareFiles` needs. */
interface Dependencies {
  readonly database: Pick<Database, 'forTenant'> & { readonly pool: Pick<Pool, 'query'> };
  readonly store: FileStore;
}

async function* pagesOf(list: FileStore['list']): AsyncGenerator<StoredObject> {
  let after: string | undefined;
  do {
    const page = await list({ after, limit: PAGE });
    yield* page.objects;
    after = page.next;
  } while (after !== undefined);
}

const pathOf = (object: ObjectId): string => objectPath(object).join('/');

const objectOf = ({ tenant_id: tenantId, object_id: id }: SweptContent): ObjectId => ({
  tenantId,
  id,
});

/**
 * Compares every object with the tables and every content with the store, in one pass over both in the same order.
 * Each difference is looked up again, because both change meanwhile. Returns the numbers of objects and contents.
 */
export const compareFiles = async (
  { database, store }: Dependencies,
  differences: Differences,
  stopping?: AbortSignal,
): Promise<{ readonly objects: number; readonly contents: number }> => {
  const oldest = Date.now() - SAFE_AGE_MS;
  const suspects = new Map<string, string[]>();
  let suspected = 0;
  const lookUpSuspects = async () => {
    for (const [tenantId, ids] of suspects) {
      for (const id of await findOrphans(database.forTenant(tenantId), ids)) {
        await differences.orphan({ tenantId, id });
      }
    }
    suspects.clear();
    suspected = 0;
  };
  const suspect = async ({ tenantId, id, storedAt }: StoredObject) => {
    if (storedAt.getTime() > oldest) return;
    suspects.set(tenantId, [...(suspects.get(tenantId) ?? []), id]);
    suspected += 1;
    if (suspected >= PAGE) await lookUpSuspects();
  };

  const lookUpContent = async (content: SweptContent) => {
    const { size, is_sealed: isSealed, is_missing: wasMissing } = content;
    const found = await store.head(objectOf(content));
    if (found?.size === storedSize(size, isSealed)) {
      if (wasMissing) await differences.found(content);
      return;
    }
    const db = database.forTenant(content.tenant_id);
    if (await hasObject(db, content)) await differences.missing(content);
  };

  /** Whether an object of the right size that was missing or damaged can be read as a whole by now. */
  const isRepaired = async ({ tenant_id: tenantId, id, object_id }: SweptContent) => {
    const content = await findContent(database.forTenant(tenantId), id);
    if (content?.object_id !== object_id) return true;
    const { size, sealed_key: sealedKey } = content;
    try {
      const stream = await store.get({ tenantId, id: object_id, size, sealedKey });
      await finished(stream.resume());
      return true;
    } catch {
      // Whatever the reason, the next comparison tries again.
      return false;
    }
  };

  const stored = pagesOf(store.list);
  const contents = contentsByPath(database.pool, PAGE);
  const counts = { objects: 0, contents: 0 };
  let object = await stored.next();
  let content = await contents.next();
  while (!object.done || !content.done) {
    if (stopping?.aborted) return counts;
    const objectAt = object.done ? undefined : pathOf(object.value);
    const contentAt = content.done ? undefined : pathOf(objectOf(content.value));
    const isObject = contentAt === undefined || (objectAt !== undefined && objectAt <= contentAt);
    const isContent = objectAt === undefined || (contentAt !== undefined && contentAt <= objectAt);
    if (isObject && !object.done && !isContent) await suspect(object.value);
    if (isContent && !content.done) {
      const { size, is_sealed: isSealed, is_missing: wasMissing } = content.value;
      const isIntact = isObject && !object.done && object.value.size === storedSize(size, isSealed);
      if (!isIntact) await lookUpContent(content.value);
      else if (wasMissing) {
        const isFound = await isRepaired(content.value);
        await (isFound ? differences.found(content.value) : differences.missing(content.value));
      }
    }
    if (isObject && !object.done) {
      counts.objects += 1;
      object = await stored.next();
    }
    if (isContent && !content.done) {
      counts.contents += 1;
      content = await contents.next();
    }
  }
  for await (const unfinished of pagesOf(store.listUnfinished)) await suspect(unfinished);
  await lookUpSuspects();
  return counts;
};
