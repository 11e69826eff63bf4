import type { SealedColumn } from '@tessera/vault';
import { pinPurpose } from '../features/pin/pin-hash.ts';
import { twoFactorPurpose } from '../features/two-factor/two-factor.service.ts';
import { mailPurpose } from '../mail/outbox.ts';
import { signingKeyPurpose } from '../tokens/signing-keys.ts';

/** All columns that are encrypted by the vault. */
export const sealedColumns: readonly SealedColumn[] = [
  {
    schema: 'identity',
    table: 'signing_keys',
    column: 'sealed_private',
    key: { kid: 'text' },
    boundTo: 'kid',
    purposeOf: signingKeyPurpose,
  },
  {
    schema: 'identity',
    table: 'two_factors',
    column: 'sealed_secret',
    key: { user_id: 'uuid' },
    boundTo: 'user_id',
    purposeOf: twoFactorPurpose,
  },
  {
    schema: 'identity',
    table: 'pins',
    column: 'sealed_hash',
    key: { user_id: 'uuid' },
    boundTo: 'user_id',
    purposeOf: pinPurpose,
  },
  {
    schema: 'identity',
    table: 'outbox_mails',
    column: 'sealed_message',
    key: { id: 'uuid' },
    boundTo: 'id',
    purposeOf: mailPurpose,
  },
];
