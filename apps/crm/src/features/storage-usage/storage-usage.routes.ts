import { StorageUsage } from '@tessera/contracts';
import type { RouteTable } from '@tessera/http-kit';
import type { Database } from '../../database.ts';
import { record } from '../../http.ts';
import { systemRoute } from '../../system/system-route.ts';
import { storageUsage } from './storage-usage.repository.ts';

export const storageUsageRoutes = (database: Database): RouteTable => ({
  getStorageUsage: systemRoute({
    method: 'get',
    path: '/system/storage-usage',
    summary: 'Show the storage usage of a tenant, by kind of record',
    responses: { 200: record(StorageUsage) },
    async handler({ caller, reply }) {
      return reply(200, { data: await storageUsage(database, caller.tenantId) });
    },
  }),
});
