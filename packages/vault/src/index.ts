export { type EncryptionKey, encryptionKeys, keyList } from './keys.ts';
export { type Queryable, reseal, type SealedColumn } from './reseal.ts';
export { createVault, KeyNotConfigured, type Vault } from './vault.ts';
