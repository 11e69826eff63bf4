import type { RouteTable } from '@tessera/http-kit';
import { partRoutes } from '../../records/part-routes.ts';
import { recordRoutes } from '../../records/routes.ts';
import { AddressInput } from '../addresses.schema.ts';
import { type Companies, company } from './companies.records.ts';
import { CompanyAddress, MAX_ADDRESSES } from './companies.schema.ts';

export const companyRoutes = (companies: Companies): RouteTable => ({
  ...recordRoutes(company, companies),
  ...partRoutes(company, companies, {
    field: 'addresses',
    name: 'address',
    input: AddressInput,
    answer: CompanyAddress,
    max: MAX_ADDRESSES,
  }),
});
