import { notFound, readInBatches } from '@tessera/http-kit';
import type { Database, TenantDb } from '../../database.ts';
import type { Caller } from '../../http.ts';
import { actorOf } from '../../records/actor.ts';
import type { Page } from '../../records/listing.ts';
import type { Cause } from '../../records/record-changes.ts';
import type { LimitedRead } from '../../records/records.ts';
import type { contactTags, contentTags, TagFamily, TaggedTable } from './tag-families.ts';
import {
  countTagged,
  findTag,
  findTagged,
  listTags,
  nextTags,
  replaceTag,
  type TagReplacement,
} from './tags.repository.ts';
import type { TagChangePayload, TagPayload, TagQuery } from './tags.schema.ts';

/** How many records a transaction changes. */
const BATCH = 500;
/** How many tags an export reads at a time. Tags are short, and all of them are counted for each batch. */
const BATCH_OF_TAGS = 20_000;

export interface TagOptions {
  /** How many tags an export reads at a time. */
  readonly batchOfTags?: number;
  /** How long a request goes on starting transactions. Default: 20 seconds. */
  readonly timeLimitMs?: number;
}

/** The tags of a tenant's records of several kinds. */
export interface Tags<T extends TaggedTable> {
  list(caller: Caller, query: TagQuery): Promise<Page<TagPayload<T>>>;
  /** Throws 404 if no record that is not deleted has the tag. */
  get(caller: Caller, tag: string): Promise<TagPayload<T>>;
  /** All tags that the search finds, in batches; `limited` runs each read. */
  batches(
    caller: Caller,
    query: Pick<TagQuery, 'sort' | 'search'>,
    limited: LimitedRead,
  ): AsyncIterable<readonly TagPayload<T>[]>;
  /**
   * Renames a tag in all records, deleted ones included, or removes it if `name` is undefined. Each batch of
   * records is a transaction, and a request that is interrupted or runs out of time can be repeated. Throws 404
   * if no record has the tag.
   */
  replace(caller: Caller, tag: string, name?: string): Promise<TagChangePayload<T>>;
}

export type ContactTags = Tags<(typeof contactTags.tables)[number]>;
export type ContentTags = Tags<(typeof contentTags.tables)[number]>;

export const createTags = <T extends TaggedTable>(
  database: Database,
  { tables }: Pick<TagFamily<T>, 'tables'>,
  { timeLimitMs = 20_000, batchOfTags = BATCH_OF_TAGS }: TagOptions = {},
): Tags<T> => {
  /** Changes the records of one table in the order of their ids; `ended` tells whether it reached the last. */
  const replaceIn = async (
    db: TenantDb,
    replacement: TagReplacement,
    cause: Cause,
    isInTime: () => boolean,
  ): Promise<{ readonly changed: number; readonly ended: boolean }> => {
    let changed = 0;
    let after: string | undefined;
    while (isInTime()) {
      const ids = await findTagged(db, replacement, { after, limit: BATCH });
      if (ids.length > 0) changed += await replaceTag(db, replacement, ids, cause);
      if (ids.length < BATCH) return { changed, ended: true };
      after = ids.at(-1);
    }
    return { changed, ended: false };
  };

  const changeOf = (changed: ReadonlyMap<T, number>, isComplete: boolean): TagChangePayload<T> => {
    const counts = tables.map((table) => [`${table}_count`, changed.get(table) ?? 0]);
    return { ...Object.fromEntries(counts), is_complete: isComplete };
  };

  return {
    list: ({ tenantId }, query) => listTags(database.forTenant(tenantId), tables, query),

    async get({ tenantId }, tag) {
      const found = await findTag(database.forTenant(tenantId), tables, tag);
      if (!found) throw notFound('The tag');
      return found;
    },

    async *batches({ tenantId }, query, limited) {
      const db = database.forTenant(tenantId);
      yield* readInBatches<TagPayload<T>>(batchOfTags, (after, limit) =>
        limited(() => nextTags(db, tables, query, { after, limit })),
      );
    },

    async replace(caller, tag, name) {
      const db = database.forTenant(caller.tenantId);
      const cause = { action: 'update', actor: actorOf(caller) };
      const end = performance.now() + timeLimitMs;
      const isInTime = (): boolean => performance.now() < end;
      const existed = (await countTagged(db, tables, tag)) > 0;
      const changedIn = new Map<T, number>();
      let isComplete: boolean;
      // Another round, if records get the tag meanwhile.
      do {
        isComplete = true;
        for (const table of tables) {
          const { changed, ended } = await replaceIn(db, { table, tag, name }, cause, isInTime);
          changedIn.set(table, (changedIn.get(table) ?? 0) + changed);
          isComplete &&= ended;
        }
        isComplete &&= (await countTagged(db, tables, tag, name)) === 0;
      } while (!isComplete && isInTime());
      // Another request may have changed all records meanwhile.
      const isUnknown = !existed && [...changedIn.values()].every((changed) => changed === 0);
      if (isComplete && isUnknown) throw notFound('The tag');
      return changeOf(changedIn, isComplete);
    },
  };
};
