export { type EncryptionKey, encryptionKeys, keyList } from './keys.ts';
export { createVault, type Vault } from './vault.ts';
