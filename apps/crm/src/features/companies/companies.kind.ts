import { domain, email, uuid } from '@tessera/fields';
import { equals, timeFilters } from '../../records/filters.ts';
import { declareKind, type TypesOf } from '../../records/kind.ts';
import { identified } from '../../records/parts.ts';
import type { Records } from '../../records/records.ts';
import { Company, CompanyInput, industry, taxNumber } from './companies.schema.ts';

export const company = declareKind({
  table: 'companies',
  name: 'company',
  permissions: 'companies',
  create: CompanyInput,
  answer: Company,
  sort: {
    name: 'sort_name',
    domain: 'domain',
    industry: 'industry',
    created_at: 'created_at',
    updated_at: 'updated_at',
  },
  defaultSort: '-created_at',
  filters: {
    domain: equals('domain', domain()),
    email: equals('email', email()),
    tax_number: equals('tax_number', taxNumber),
    industry: equals('industry', industry),
    owner_id: equals('owner_id', uuid()),
    ...timeFilters,
  },
  search: true,
  stored: ({ addresses }) => (addresses ? { addresses: identified('addresses', addresses) } : {}),
});

export type Companies = Records<TypesOf<typeof company>>;
