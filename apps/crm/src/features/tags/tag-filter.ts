import type { Field } from '@tessera/fields';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Filter } from '../../records/filters.ts';
import type { TaggedTable } from './tag-families.ts';
import { isCountOf, spellingsOf } from './tag-spellings.ts';

const { sql } = Prisma;

/** Filters a list by one tag. How many records have it is kept; see `keep_tag_counts`. */
export const taggedWith = (table: TaggedTable, field: Field<string>): Filter<string, 'tags'> => ({
  column: 'tags',
  field,
  condition: (column, value, tenantId) => sql`${column} && ${spellingsOf(tenantId, table, value)}`,
  total: (value, tenantId) => sql`(
    SELECT coalesce(sum(count), 0)::int FROM tenant_crm.tag_counts
    WHERE tenant_id = ${tenantId}::uuid AND table_name = ${table} AND ${isCountOf(value)}
  )`,
});
