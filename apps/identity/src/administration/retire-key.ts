import { setTimeout as pause } from 'node:timers/promises';
import type { Vault } from '@tessera/vault';
import { noteCommand } from '../activity/activity.ts';
import type { Database, Transaction } from '../database.ts';
import { enqueue } from '../outbox/outbox.ts';
import { tokenRevokedEvent } from '../tokens/revoke.ts';
import { type ChangedKey, REFRESH_MS, SigningKeys } from '../tokens/signing-keys.ts';

/** Time until every replica knows that the key is retired. */
const SETTLE_MS = 2 * REFRESH_MS;

/**
 * Ends all tokens that a key signed, and returns their number. A token without a recorded key ends if the key can
 * have signed it: it was created after the key began to sign and before every replica used the next one.
 */
const endTokens = (tx: Transaction, { kid, signsFrom }: ChangedKey): Promise<number> =>
  // Tokens store seconds, keys milliseconds.
  tx.$executeRaw`UPDATE identity.tokens SET revoked_at = now()
    WHERE revoked_at IS NULL AND (kid = ${kid}
      OR (kid IS NULL AND created_at >= date_trunc('second', ${signsFrom}::timestamptz)
        AND created_at <= coalesce((SELECT min(k.signs_from) FROM identity.signing_keys k
          WHERE k.signs_from > ${signsFrom}::timestamptz)
          + make_interval(secs => ${SETTLE_MS / 1000}::float8), 'infinity')))`;

/**
 * Retires a signing key immediately (decision I23): its signatures are no longer accepted, and all tokens that it
 * signed end, now and once more after no replica can have used it. Throws if the key does not exist.
 */
export const retireKey = async (
  { database, vault }: { readonly database: Database; readonly vault: Vault },
  kid: string,
  settleMs = SETTLE_MS,
): Promise<object> => {
  const keys = new SigningKeys(database, vault);
  const event = tokenRevokedEvent({ kid, reason: 'signing_key_retired' });
  const { key, ended } = await keys.retire(kid, async (tx, key) => {
    const ended = await endTokens(tx, key);
    await enqueue(tx, event);
    await noteCommand(tx, `retire-key ${kid}`, 'signing_key_retired');
    return { key, ended };
  });
  await pause(settleMs);
  const late = await database.$transaction(async (tx) => {
    const late = await endTokens(tx, key);
    if (late > 0) await enqueue(tx, event);
    return late;
  });
  const { kid: signs_now } = await keys.signing();
  return { kid, tokens_ended: ended + late, signs_now };
};
