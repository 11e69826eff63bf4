import { FileUsage, StorageUsage } from '@tessera/contracts';
import { complete, shape } from '@tessera/fields';
import type { RouteTable } from '@tessera/http-kit';
import type { Database } from '../../database.ts';
import { writeQuota } from '../../files/usage.ts';
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

  updateStorageQuota: systemRoute({
    method: 'put',
    path: '/system/storage-quota',
    summary: 'Set how many bytes of files a tenant may have',
    description: 'A quota below what the tenant has lets it keep its files, but not add any.',
    body: complete(shape({ quota_bytes: FileUsage.fields.quota_bytes })),
    responses: { 200: record(FileUsage) },
    async handler({ caller, body, reply }) {
      const db = database.forTenant(caller.tenantId);
      return reply(200, { data: await writeQuota(db, body.quota_bytes) });
    },
  }),
});
