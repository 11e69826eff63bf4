import { bool, described } from '@tessera/fields';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Filter } from '../../records/filters.ts';

const { sql } = Prisma;

/** Whether records are in the root, by the column of their folder. */
export const inRoot = <C extends string>(column: C): Filter<boolean, C> => ({
  column,
  field: described(bool(), 'Only what is in the root, or only what is in a folder'),
  condition: (name, isInRoot) => (isInRoot ? sql`${name} IS NULL` : sql`${name} IS NOT NULL`),
});
