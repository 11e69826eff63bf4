import type { RouteTable } from '@tessera/http-kit';
import type { Database } from '../../database.ts';
import { page, route } from '../../http.ts';
import { paging } from '../../records/paging.ts';
import { listDuplicates } from './duplicates.repository.ts';
import { CompanyDuplicates, DuplicatesQuery } from './duplicates.schema.ts';

export const duplicateRoutes = (database: Database): RouteTable => ({
  listCompanyDuplicates: route({
    method: 'get',
    path: '/companies/duplicates',
    permission: 'companies.list',
    resource: 'company',
    summary: 'List companies with the same domain or tax number',
    description:
      'Groups of companies, ordered by field and value. `www.example.com` is the same domain as `example.com`, and tax numbers are compared without punctuation and case.',
    query: DuplicatesQuery,
    responses: { 200: page(CompanyDuplicates) },
    handler: async ({ caller, query, req, reply }) => {
      const { rows, ...position } = await listDuplicates(
        database.forTenant(caller.tenantId),
        query,
      );
      return reply(200, { data: rows, ...paging(req.originalUrl, position) });
    },
  }),
});
