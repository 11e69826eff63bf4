import type { Exports, RouteTable } from '@tessera/http-kit';
import type { Database } from '../../database.ts';
import { batchRoute } from '../../records/batch-routes.ts';
import { partRoutes } from '../../records/part-routes.ts';
import { deleteReferredRoute } from '../../records/referred-records.ts';
import { recordRoutes } from '../../records/routes.ts';
import { addressParts } from '../addresses.schema.ts';
import { removeTagRoute } from '../tags/tag-removal.ts';
import { company } from './companies.kind.ts';
import type { ReferredCompanies } from './companies.service.ts';

export const companyRoutes = (
  referred: ReferredCompanies,
  exports: Exports,
  database: Database,
): RouteTable => {
  const { records: companies } = referred;
  const routes = recordRoutes(company, companies);
  const addresses = partRoutes(company, companies, {
    ...addressParts,
    permission: 'companies.update',
  });
  return {
    listCompanies: routes.list(),
    exportCompanies: routes.export({ permission: 'companies.export', exports }),
    createCompany: routes.create(),
    getCompany: routes.get(),
    updateCompany: routes.update(),
    deleteCompany: deleteReferredRoute(
      company,
      referred,
      'It can be restored. Contacts, projects, tasks and communication logs that refer to it stay, and refer to it again once it is restored.',
    ),
    batchCompanies: batchRoute(company, companies, database),
    restoreCompany: routes.restore(),
    listCompanyHistory: routes.history(),
    updateCompanyTags: routes.replace('tags'),
    deleteCompanyTag: removeTagRoute(company, companies, 'companies.update'),

    listCompanyAddresses: addresses.list(),
    createCompanyAddress: addresses.create(),
    getCompanyAddress: addresses.get(),
    updateCompanyAddress: addresses.update(),
    deleteCompanyAddress: addresses.delete(),
  };
};
