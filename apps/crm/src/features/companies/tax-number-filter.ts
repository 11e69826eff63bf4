import { described, text } from '@tessera/fields';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Filter } from '../../records/filters.ts';

const { sql } = Prisma;

/** Finds companies by their tax number as the list of duplicates does. */
export const taxNumberFilter: Filter<string, 'tax_number'> = {
  column: 'tax_number',
  field: described(text(50), 'Punctuation, spaces and case are ignored.'),
  // A number without letters and digits has no key.
  condition: (column, number) => sql`${column} = ${number} OR (
    tax_number_key IS NOT NULL AND tax_number_key = tenant_crm.tax_number_key(${number}::text))`,
};
