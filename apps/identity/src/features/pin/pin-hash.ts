import type { Vault } from '@tessera/vault';
import type { Pin } from '../../generated/prisma/client.ts';

/** The stored hash of a PIN. */
export type StoredHash = Pick<Pin, 'userId' | 'sealedHash' | 'hash'>;

/** The columns with a sealed hash. */
export interface SealedHash {
  readonly sealedHash: Uint8Array<ArrayBuffer>;
  /** Empty: the hash is only in the sealed column. */
  readonly hash: '';
}

/** Associated data of the encryption, which binds the hash of a PIN to its user. */
export const pinPurpose = (userId: string): string => `pin ${userId}`;

/** Seals the hash of a PIN: whoever has only a copy of the database cannot find the PIN by trying all of them. */
export const sealHash = (vault: Vault, userId: string, hash: string): SealedHash => ({
  sealedHash: new Uint8Array(vault.seal(Buffer.from(hash), pinPurpose(userId))),
  hash: '',
});

/** The hash of a PIN, which is sealed or, in rows of the previous release, not yet. */
export const hashOf = (vault: Vault, { userId, sealedHash, hash }: StoredHash): string =>
  sealedHash ? vault.open(sealedHash, pinPurpose(userId)).toString() : hash;
