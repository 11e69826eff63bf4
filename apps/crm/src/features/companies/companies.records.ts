import { domain, email, uuid } from '@tessera/fields';
import type { Db } from '../../database.ts';
import { declareRecord } from '../../records/declaration.ts';
import { equals, timeFilters } from '../../records/filters.ts';
import { identified } from '../../records/parts.ts';
import { createRecords } from '../../records/records.ts';
import { Company, CompanyInput, industry, taxNumber } from './companies.schema.ts';

export const company = declareRecord({
  model: 'Company',
  table: 'companies',
  permissions: 'companies',
  name: 'company',
  input: CompanyInput,
  answer: Company,
  sort: {
    name: 'sortName',
    domain: 'domain',
    industry: 'industry',
    created_at: 'createdAt',
    updated_at: 'updatedAt',
  },
  defaultSort: '-created_at',
  filters: {
    domain: equals('domain', domain()),
    email: equals('email', email()),
    tax_number: equals('taxNumber', taxNumber),
    industry: equals('industry', industry),
    owner_id: equals('ownerId', uuid()),
    ...timeFilters,
  },
  search: true,
  prepare: ({ addresses }) => (addresses ? { addresses: identified('addresses', addresses) } : {}),
});

/** The companies of the callers' tenants. */
export const createCompanies = (db: Db) => createRecords(company, db);

export type Companies = ReturnType<typeof createCompanies>;
