import { Prisma } from '../../generated/prisma/client.ts';
import type { TaggedTable } from './tag-families.ts';

const { sql } = Prisma;

/** The condition for the counts of a tag in `tag_counts`: tags are one whatever their case and Unicode form. */
export const isCountOf = (tag: string): Prisma.Sql => sql`tag_key = tenant_crm.tag_key(${tag})`;

/** What a search compares, of a row of `tag_counts`. It is kept, except in rows that a migration could not lock. */
export const foldedTag = sql`coalesce(search_key, tenant_crm.search_key(tag))`;

/** How the live records of a table write a tag, as an array. An index finds them, and another one the records by these. */
export const spellingsOf = (tenantId: string, table: TaggedTable, tag: string): Prisma.Sql => sql`
  ARRAY(
    SELECT tag FROM tenant_crm.tag_counts
    WHERE tenant_id = ${tenantId}::uuid AND table_name = ${table} AND ${isCountOf(tag)}
  )`;
