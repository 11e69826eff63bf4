import { fileKeyPurpose } from '@tessera/file-store';
import type { SealedColumn } from '@tessera/vault';
import { credentialsPurpose } from '../features/messaging-accounts/accounts.rules.ts';
import { secretsPurpose } from '../features/webhooks/endpoint-secrets.ts';

/** Every column with sealed data. */
export const sealedColumns: readonly SealedColumn[] = [
  {
    schema: 'tenant_crm',
    table: 'messaging_accounts',
    column: 'sealed_credentials',
    key: { tenant_id: 'uuid', id: 'uuid' },
    boundTo: 'id',
    purposeOf: credentialsPurpose,
  },
  {
    schema: 'tenant_crm',
    table: 'webhook_endpoints',
    column: 'sealed_secrets',
    key: { tenant_id: 'uuid', id: 'uuid' },
    boundTo: 'id',
    purposeOf: secretsPurpose,
  },
  {
    schema: 'tenant_crm',
    table: 'file_contents',
    column: 'sealed_key',
    key: { tenant_id: 'uuid', id: 'uuid' },
    boundTo: 'object_id',
    purposeOf: fileKeyPurpose,
  },
  {
    schema: 'tenant_crm',
    table: 'upload_parts',
    column: 'sealed_key',
    key: { tenant_id: 'uuid', id: 'uuid' },
    boundTo: 'id',
    purposeOf: fileKeyPurpose,
  },
];
