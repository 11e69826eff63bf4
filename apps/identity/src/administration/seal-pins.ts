import type { Vault } from '@tessera/vault';
import type { Database } from '../database.ts';
import { sealHash } from '../features/pin/pin-hash.ts';

/** Seals, in batches, the hashes of PINs that are not sealed yet. Returns their number. */
export const sealPins = async (
  { pin }: Pick<Database, 'pin'>,
  vault: Vault,
  batch = 200,
): Promise<number> => {
  let sealed = 0;
  for (;;) {
    const found = await pin.findMany({ where: { sealedHash: null }, take: batch });
    for (const { userId, hash } of found) {
      // Skips a PIN that has changed since it was read.
      const where = { userId, hash, sealedHash: null };
      const { count } = await pin.updateMany({ where, data: sealHash(vault, userId, hash) });
      sealed += count;
    }
    if (found.length < batch) return sealed;
  }
};
