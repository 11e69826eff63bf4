import { Prisma } from '../../generated/prisma/client.ts';
import { type Filter, has } from '../../records/filters.ts';
import { tag } from '../tags.schema.ts';
import type { TaggedTable } from './tag-families.ts';

/** Filters a list by one tag. How many records have it is kept; see `keep_tag_counts`. */
export const taggedWith = (table: TaggedTable): Filter<string, 'tags'> => ({
  ...has('tags', tag),
  total: (value, tenantId) => Prisma.sql`(
    SELECT coalesce(sum(count), 0)::int FROM tenant_crm.tag_counts
    WHERE tenant_id = ${tenantId}::uuid AND table_name = ${table} AND tag = ${value}
  )`,
});
