import { Prisma } from '../../generated/prisma/client.ts';
import type { AlsoSearched } from '../../records/search.ts';
import type { TaggedTable } from './tag-families.ts';
import { MAX_TAGS_OF_KIND } from './tag-limit.ts';
import { foldedTag } from './tag-spellings.ts';

const { raw, sql } = Prisma;

/** Records are compared with so many tags at most. */
const MAX_TAGS = 50;
/**
 * So many counts are searched at most: more than a tenant can have, since transactions that run at the same time may count a tag
 * twice, but fewer than one that is over the limit since an earlier release.
 */
const MAX_COUNTS = 2 * MAX_TAGS_OF_KIND;

/**
 * Finds the records of a table by their tags, if its `search_text` does not contain them: making that column again would block
 * the table. The tags are searched among their kept counts, whose number is limited (`tag-limit.ts`), and the records found by the
 * index of tags. Without a limit of its own, one letter would compare each record with all tags of the tenant.
 */
export const searchedTags = (table: TaggedTable): AlsoSearched => ({
  description: `Also finds ${table} by their tags: by the ${MAX_TAGS} most frequent ones that contain the text.`,
  condition: (db, term) => sql`tags && ARRAY(
    SELECT tag FROM (
      SELECT tag, search_key, count FROM ${raw(db.readSchema)}.tag_counts
      WHERE tenant_id = ${db.tenantId}::uuid AND table_name = ${table}
      ORDER BY tag, slot LIMIT ${MAX_COUNTS}
    ) AS searched
    WHERE strpos(${foldedTag}, tenant_crm.search_key(${term})) > 0
    GROUP BY tag ORDER BY sum(count) DESC, tag COLLATE "C" LIMIT ${MAX_TAGS}
  )`,
});
