import type { Database } from '../../database.ts';
import type { TypesOf } from '../../records/kind.ts';
import { createRecords } from '../../records/records.ts';
import { type ReferredRecords, referredRecords } from '../../records/referred-records.ts';
import { company } from './companies.kind.ts';

export type ReferredCompanies = ReferredRecords<TypesOf<typeof company>>;

/** What refers to a company is no part of it: it stays when the company is deleted. */
const referring = [
  { table: 'contacts', column: 'company_id' },
  { table: 'projects', column: 'company_id' },
  { table: 'tasks', column: 'company_id' },
  { table: 'communication_logs', column: 'company_id' },
] as const;

export const createCompanies = (
  database: Pick<Database, 'forTenant' | 'transaction'>,
): ReferredCompanies =>
  referredRecords(company, createRecords(company, database), database, referring);
