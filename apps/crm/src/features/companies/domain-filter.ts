import { domainToASCII } from 'node:url';
import { described, domain } from '@tessera/fields';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Filter } from '../../records/filters.ts';

const { sql } = Prisma;

/** The condition, which an index serves, for companies with a domain, with or without `www.`. */
export const hasDomain = (name: Prisma.Sql): Prisma.Sql =>
  sql`domain_key IS NOT NULL AND domain_key = tenant_crm.domain_key(${name})`;

/** Finds companies by their domain as imports and the list of duplicates do. */
export const domainFilter: Filter<string, 'domain'> = {
  column: 'domain',
  field: described(domain(), '`www.example.com` is the same domain as `example.com`.'),
  // Earlier releases stored domains as they were given, also in ASCII.
  condition: (_column, name) =>
    domainToASCII(name) === name
      ? hasDomain(sql`${name}::text`)
      : sql`${hasDomain(sql`${name}::text`)} OR ${hasDomain(sql`${domainToASCII(name)}::text`)}`,
  isCountedByIndex: true,
};
