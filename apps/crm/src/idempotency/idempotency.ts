import {
  type Idempotency,
  idempotencyKeyInUse,
  idempotencyKeyReused,
  type RepeatableResponse,
} from '@tessera/http-kit';
import type { Vault } from '@tessera/vault';
import { BotCaller } from '../bots/bot-access.ts';
import type { Database, TenantDb } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';
import type { Caller } from '../http.ts';
import { SystemCaller } from '../system/system-access.ts';

const { sql } = Prisma;

/** How long a key is kept, in milliseconds. */
const KEPT_MS = 24 * 3_600_000;

type KeyedCaller = Pick<Caller, 'tenantId' | 'principal'> | SystemCaller | BotCaller;

/**
 * Keys of different callers do not meet, nor do those of a user in different apps, of an administrator who acts as
 * the user, or of services with different system tokens.
 */
const callerOf = (caller: KeyedCaller): string => {
  if (caller instanceof SystemCaller) return `system:${caller.tokenId}`;
  if (caller instanceof BotCaller) return `bot:${caller.botId}`;
  const { type, id, client_id, impersonator_id } = caller.principal;
  return [type, id, client_id ?? '', impersonator_id ?? ''].join(':');
};

/** What fingerprints are digested for. */
const PURPOSE = 'fingerprints of idempotent requests';

/**
 * Fingerprints as they are stored. A request may contain a weak password, which an unkeyed hash would allow to be
 * guessed. Without a vault no credentials are accepted, and the hash is stored as it is.
 */
const createFingerprints = (vault: Vault | undefined) => ({
  stored: (fingerprint: Buffer): Buffer => vault?.digest(fingerprint, PURPOSE) ?? fingerprint,
  matches: (fingerprint: Buffer, stored: Buffer): boolean =>
    vault ? vault.matches(fingerprint, PURPOSE, stored) : stored.equals(fingerprint),
});

interface StoredKey extends RepeatableResponse {
  readonly fingerprint: Buffer;
}

/** One key of one caller. */
interface KeyId {
  readonly caller: string;
  readonly key: string;
}

/** Waits for nobody: false if another transaction has the key. The lock ends with the transaction. */
const lockKey = async (db: TenantDb, { caller, key }: KeyId): Promise<boolean> => {
  const name = JSON.stringify(['idempotency_keys', db.tenantId, caller, key]);
  const [lock] = await db.query<{ taken: boolean }>(
    sql`SELECT pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) AS taken`,
  );
  return lock?.taken === true;
};

const findKey = async (db: TenantDb, { caller, key }: KeyId): Promise<StoredKey | undefined> => {
  const [stored] = await db.query<StoredKey>(sql`
    SELECT fingerprint, status, headers, body FROM tenant_crm.idempotency_keys
    WHERE tenant_id = ${db.tenantId}::uuid AND caller = ${caller} AND key = ${key}
      AND expires_at > ${new Date()}`);
  return stored;
};

const storeKey = (
  db: TenantDb,
  { caller, key }: KeyId,
  { fingerprint, status, headers, body }: StoredKey,
): Promise<unknown> => {
  const text = body === undefined ? null : JSON.stringify(body);
  const expiresAt = new Date(Date.now() + KEPT_MS);
  // An expired key may still be there.
  return db.query(sql`
    INSERT INTO tenant_crm.idempotency_keys
      (tenant_id, caller, key, fingerprint, status, headers, body, expires_at)
    VALUES (${db.tenantId}::uuid, ${caller}, ${key}, ${fingerprint}, ${status},
      ${JSON.stringify(headers)}::jsonb, ${text}::json, ${expiresAt})
    ON CONFLICT (tenant_id, caller, key) DO UPDATE SET fingerprint = excluded.fingerprint,
      status = excluded.status, headers = excluded.headers, body = excluded.body,
      expires_at = excluded.expires_at`);
};

/**
 * Keeps responses in the database for 24 hours, per tenant and caller. The key is stored in the transaction of
 * the change, so that a process that is killed at any time cannot make the change twice.
 */
export const createIdempotency = (
  database: Database,
  vault: Vault | undefined,
): Idempotency<KeyedCaller> => {
  const fingerprints = createFingerprints(vault);
  return {
    isUsed: async (caller, key) => {
      const db = database.forTenant(caller.tenantId);
      return (await findKey(db, { caller: callerOf(caller), key })) !== undefined;
    },

    once: (caller, { key, fingerprint }, work) =>
      database.transaction(caller.tenantId, async (db) => {
        const id = { caller: callerOf(caller), key };
        if (!(await lockKey(db, id))) throw idempotencyKeyInUse();
        const stored = await findKey(db, id);
        if (stored) {
          if (!fingerprints.matches(fingerprint, stored.fingerprint)) throw idempotencyKeyReused();
          const { status, headers, body } = stored;
          return { response: { status, headers, body: body ?? undefined }, isReplayed: true };
        }
        const response = await work();
        const { status, headers, body } = response;
        await storeKey(db, id, {
          status,
          headers,
          body,
          fingerprint: fingerprints.stored(fingerprint),
        });
        return { response, isReplayed: false };
      }),
  };
};
