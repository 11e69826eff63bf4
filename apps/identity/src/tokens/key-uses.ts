import { SampledUses, type SampledUsesOptions } from './sampled-uses.ts';

/** Never waits for a lock: skips keys whose row is locked. */
const WRITE = `
  WITH used AS (
    SELECT t.id, u.at FROM identity.tokens t
    JOIN unnest($1::uuid[], $2::timestamptz[]) AS u (id, at) ON u.id = t.id
    WHERE t.last_used_at IS NULL OR t.last_used_at < u.at
    ORDER BY t.id FOR NO KEY UPDATE OF t SKIP LOCKED)
  UPDATE identity.tokens t SET last_used_at = used.at FROM used WHERE t.id = used.id`;

/** Records when API keys were last used. */
export class KeyUses extends SampledUses {
  constructor({ everyMs = 60_000, ...options }: SampledUsesOptions) {
    super(options, { statement: WRITE, what: 'uses of API keys', everyMs });
  }
}
