import { Prisma } from '../../generated/prisma/client.ts';
import type { AlsoSearched } from '../../records/search.ts';
import type { TaggedTable } from './tag-families.ts';

const { raw, sql } = Prisma;

/**
 * Finds the records of a table by their tags, if its `search_text` does not contain them: making that column again would block
 * the table. The tags are searched among their kept counts, and the records found by the index of tags.
 */
export const searchedTags = (table: TaggedTable): AlsoSearched => ({
  description: `Also finds ${table} by their tags.`,
  condition: (db, term) => sql`tags && ARRAY(
    SELECT tag FROM ${raw(db.readSchema)}.tag_counts
    WHERE tenant_id = ${db.tenantId}::uuid AND table_name = ${table}
      AND strpos(tenant_crm.search_key(tag), tenant_crm.search_key(${term})) > 0
  )`,
});
