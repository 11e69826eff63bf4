import { setTimeout as pause } from 'node:timers/promises';
import type { Vault } from '@tessera/vault';
import type { Database, Transaction } from '../database.ts';
import { enqueue } from '../outbox/outbox.ts';
import { revoked } from '../tokens/revoke.ts';
import { REFRESH_MS, type RetiredKey, SigningKeys } from '../tokens/signing-keys.ts';

/** Until then a replica may sign with a key that it does not yet know to be retired. */
const SETTLE_MS = 2 * REFRESH_MS;

/**
 * Ends every token that a key signed. A token whose key was not recorded ends if the key may have signed it:
 * it was created after the key began to sign, and before every replica signed with the next one. Gives their
 * number.
 */
const endTokens = (tx: Transaction, { kid, signsFrom }: RetiredKey): Promise<number> =>
  // Tokens record the second of their creation, keys the millisecond.
  tx.$executeRaw`UPDATE identity.tokens SET revoked_at = now()
    WHERE revoked_at IS NULL AND (kid = ${kid}
      OR (kid IS NULL AND created_at >= date_trunc('second', ${signsFrom}::timestamptz)
        AND created_at <= coalesce((SELECT min(k.signs_from) FROM identity.signing_keys k
          WHERE k.signs_from > ${signsFrom}::timestamptz)
          + make_interval(secs => ${SETTLE_MS / 1000}::float8), 'infinity')))`;

/**
 * Takes a signing key out of use at once (decision I23): no replica accepts its signature any more, and
 * every token that it signed ends, now and once more when no replica can have signed another one. Throws
 * where there is no such key.
 */
export const retireKey = async (
  { database, vault }: { readonly database: Database; readonly vault: Vault },
  kid: string,
  settleMs = SETTLE_MS,
): Promise<object> => {
  const keys = new SigningKeys(database, vault);
  const news = revoked({ kid, reason: 'signing_key_retired' });
  const { key, ended } = await keys.retire(kid, async (tx, key) => {
    const ended = await endTokens(tx, key);
    await enqueue(tx, news);
    return { key, ended };
  });
  await pause(settleMs);
  const late = await database.$transaction(async (tx) => {
    const late = await endTokens(tx, key);
    if (late > 0) await enqueue(tx, news);
    return late;
  });
  const { kid: signs_now } = await keys.signing();
  return { kid, tokens_ended: ended + late, signs_now };
};
