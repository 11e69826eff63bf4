import { Prisma } from '../../generated/prisma/client.ts';
import type { AlsoSearched } from '../../records/search.ts';
import type { TaggedTable } from './tag-families.ts';
import { foldedTag } from './tag-spellings.ts';

const { raw, sql } = Prisma;

/** Records are compared with so many tags at most. */
const MAX_TAGS = 200;

/**
 * Finds the records of a table by their tags, if its `search_text` does not contain them: making that column again would block
 * the table. The tags are searched among their kept counts, whose number is limited (`tag-limit.ts`), and the records found by the
 * index of tags. Without a limit of its own, one letter would compare each record with all tags of the tenant.
 */
export const searchedTags = (table: TaggedTable): AlsoSearched => ({
  description: `Also finds ${table} by their tags: by the ${MAX_TAGS} most frequent ones that contain the text.`,
  condition: (db, term) => sql`tags && ARRAY(
    SELECT tag FROM ${raw(db.readSchema)}.tag_counts
    WHERE tenant_id = ${db.tenantId}::uuid AND table_name = ${table}
      AND strpos(${foldedTag}, tenant_crm.search_key(${term})) > 0
    GROUP BY tag ORDER BY sum(count) DESC, tag COLLATE "C" LIMIT ${MAX_TAGS}
  )`,
});
