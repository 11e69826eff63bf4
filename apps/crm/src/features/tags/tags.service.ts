import { notFound } from '@tessera/http-kit';
import type { Database, TenantDb } from '../../database.ts';
import type { Caller } from '../../http.ts';
import { actorOf } from '../../records/actor.ts';
import type { Page } from '../../records/listing.ts';
import type { Cause } from '../../records/record-changes.ts';
import type { LimitedRead } from '../../records/records.ts';
import {
  allTags,
  countTagged,
  findTagged,
  listTags,
  replaceTag,
  type TagReplacement,
} from './tags.repository.ts';
import type { TagChangePayload, TagPayload, TagQuery } from './tags.schema.ts';

/** How many records a transaction changes. */
const BATCH = 500;

export interface TagOptions {
  /** How long a request goes on starting transactions. Default: 20 seconds. */
  readonly timeLimitMs?: number;
}

/** The tags of a tenant's contacts and companies. */
export interface Tags {
  list(caller: Caller, query: TagQuery): Promise<Page<TagPayload>>;
  /** All tags that the search finds, in batches; `limited` runs each read. */
  batches(
    caller: Caller,
    search: string | undefined,
    limited: LimitedRead,
  ): AsyncIterable<readonly TagPayload[]>;
  /**
   * Renames a tag in all records, deleted ones included, or removes it if `name` is undefined. Each batch of
   * records is a transaction, and a request that is interrupted or runs out of time can be repeated. Throws 404
   * if no record has the tag.
   */
  replace(caller: Caller, tag: string, name?: string): Promise<TagChangePayload>;
}

export const createTags = (database: Database, { timeLimitMs = 20_000 }: TagOptions = {}): Tags => {
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

  return {
    list: ({ tenantId }, query) => listTags(database.forTenant(tenantId), query),

    async *batches({ tenantId }, search, limited) {
      yield await limited(() => allTags(database.forTenant(tenantId), search));
    },

    async replace(caller, tag, name) {
      const db = database.forTenant(caller.tenantId);
      const cause = { action: 'update', actor: actorOf(caller) };
      const end = performance.now() + timeLimitMs;
      const isInTime = (): boolean => performance.now() < end;
      const existed = (await countTagged(db, tag)) > 0;
      if (name === tag) {
        if (!existed) throw notFound('The tag');
        return { contacts_count: 0, companies_count: 0, is_complete: true };
      }
      const total = { contacts: 0, companies: 0 };
      let isComplete: boolean;
      // Another round, if records get the tag meanwhile.
      do {
        isComplete = true;
        for (const table of ['contacts', 'companies'] as const) {
          const { changed, ended } = await replaceIn(db, { table, tag, name }, cause, isInTime);
          total[table] += changed;
          isComplete &&= ended;
        }
        isComplete &&= (await countTagged(db, tag)) === 0;
      } while (!isComplete && isInTime());
      // Another request may have changed all records meanwhile.
      if (isComplete && !existed && total.contacts + total.companies === 0) {
        throw notFound('The tag');
      }
      return {
        contacts_count: total.contacts,
        companies_count: total.companies,
        is_complete: isComplete,
      };
    },
  };
};
