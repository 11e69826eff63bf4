import { described, email } from '@tessera/fields';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Filter } from '../../records/filters.ts';

const { sql } = Prisma;

/** The condition, which an index serves, for contacts that have an address among their further ones. */
export const hasFurtherEmail = (address: Prisma.Sql): Prisma.Sql => sql`
  emails <> '[]' AND emails @> jsonb_build_array(jsonb_build_object('email', ${address}))`;

/** Finds contacts by any of their addresses: a merge makes the address of the other contact a further one. */
export const emailFilter: Filter<string, 'email'> = {
  column: 'email',
  field: described(email(), 'The primary address or a further one, whatever its case.'),
  condition: (column, address) =>
    sql`${column} = ${address} OR (${hasFurtherEmail(sql`${address}::text`)})`,
};
