import { batched } from '@tessera/database-kit';
import type { Adapter, AdapterPayload } from 'oidc-provider';
import type { Pool } from 'pg';
import type { Database } from '../../database.ts';
import { enqueue } from '../../outbox/outbox.ts';
import { digest } from '../../security/secrets.ts';

const MODEL = 'ClientCredentials';

/**
 * Commits asynchronously: a crash of the database can lose the tokens of the last moments. Their clients then
 * get 401 and request new ones, as for any token that has expired.
 */
const INSERT = `WITH durability AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
  INSERT INTO identity.oauth_artifacts (model, id_hash, client_id, payload, expires_at)
  SELECT '${MODEL}', id_hash, client_id, payload, to_timestamp(expires_at)
  FROM durability, unnest($1::bytea[], $2::text[], $3::jsonb[], $4::bigint[])
    AS token (id_hash, client_id, payload, expires_at)`;
const SELECT = `SELECT id_hash, payload FROM identity.oauth_artifacts
  WHERE model = '${MODEL}' AND id_hash = ANY($1::bytea[])`;

interface Row {
  readonly id_hash: Buffer;
  readonly payload: AdapterPayload;
}

type NewToken = Row & { readonly payload: { readonly clientId: string; readonly exp: number } };

const hex = (hash: Buffer): string => hash.toString('hex');

/** Stores the provider's tokens, by SHA-256. */
export const systemTokens = (
  pool: Pool,
  database: Database,
): Pick<Adapter, 'upsert' | 'find' | 'destroy'> => {
  const insert = batched(async (tokens: readonly NewToken[]) => {
    const payloads = tokens.map(({ payload }) => payload);
    const values = [
      tokens.map(({ id_hash }) => id_hash),
      payloads.map(({ clientId }) => clientId),
      payloads.map((payload) => JSON.stringify(payload)),
      payloads.map(({ exp }) => exp),
    ];
    await pool.query({ name: 'insert-system-tokens', text: INSERT, values });
    return tokens.map(() => undefined);
  });
  const find = batched(async (hashes: readonly Buffer[]) => {
    const found = { name: 'find-system-tokens', text: SELECT, values: [hashes] };
    const { rows } = await pool.query<Row>(found);
    const payloads = new Map(rows.map(({ id_hash, payload }) => [hex(id_hash), payload]));
    return hashes.map((hash) => payloads.get(hex(hash)));
  });
  return {
    async upsert(token, { jti: _, ...payload }) {
      await insert({ id_hash: digest(token), payload } as NewToken);
    },
    async find(token) {
      const payload = await find(digest(token));
      return payload && { ...payload, jti: token };
    },
    async destroy(token) {
      const hash = digest(token);
      await database.$transaction(async (tx) => {
        const [deleted] = await tx.$queryRaw<{ client_id: string }[]>`
          DELETE FROM identity.oauth_artifacts
          WHERE model = ${MODEL} AND id_hash = ${hash} RETURNING client_id`;
        if (!deleted) return;
        const data = { token_id: hex(hash), client_id: deleted.client_id, reason: 'revoked' };
        await enqueue(tx, { type: 'identity.token.revoked', data });
      });
    },
  };
};
