import { bool } from '@tessera/fields';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Filter } from '../../records/filters.ts';

/** Whether the column is null. */
export const isNull = <C extends string>(column: C): Filter<boolean, C> => ({
  column,
  field: bool(),
  condition: (of, value) => (value ? Prisma.sql`${of} IS NULL` : Prisma.sql`${of} IS NOT NULL`),
});
