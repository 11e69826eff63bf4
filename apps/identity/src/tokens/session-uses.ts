import { SampledUses, type SampledUsesOptions } from './sampled-uses.ts';

/** Maximum seconds between two writes. */
const MAX_ROUND = 30;

/** Seconds between two writes: a small part of the time after which a session is idle. */
const roundOf = (idleSignOut: number): number =>
  idleSignOut === 0 ? MAX_ROUND : Math.min(MAX_ROUND, idleSignOut / 20);

/**
 * Seconds since the last recorded use after which a session ends for its browser (decision I26); 0: never.
 * It adds two rounds to the setting, because the recorded time can lag the real one by that much: replicas
 * write once a round, and they do not record a use that follows the recorded one by less than a round.
 */
const idleAfter = (idleSignOut: number): number =>
  idleSignOut === 0 ? 0 : idleSignOut + 2 * roundOf(idleSignOut);

/** SQL: whether the session `s` has not ended for idleness; `seconds` is an expression of SQL. */
export const isInUse = (seconds: string): string => `(s.is_remembered OR ${seconds}::float8 = 0
  OR s.last_active_at > now() - make_interval(secs => ${seconds}::float8))`;

/** Seconds between two records of a remembered session, which does not end for idleness. */
const REMEMBERED_ROUND = 300;

/** Does not revive sessions that were idle for too long. */
const statementOf = (idleSignOut: number): string => `
  WITH used AS (
    SELECT s.id, u.at FROM identity.sessions s
    JOIN unnest($1::uuid[], $2::timestamptz[]) AS u (id, at) ON u.id = s.id
    WHERE s.ended_at IS NULL AND ${isInUse(`${idleAfter(idleSignOut)}`)}
      AND s.last_active_at < u.at - make_interval(secs =>
        CASE WHEN s.is_remembered THEN ${REMEMBERED_ROUND} ELSE ${roundOf(idleSignOut)} END)
    ORDER BY s.id FOR NO KEY UPDATE OF s SKIP LOCKED)
  UPDATE identity.sessions s SET last_active_at = used.at FROM used WHERE s.id = used.id`;

/** Records when sessions were last used, by pages or tokens. */
export class SessionUses extends SampledUses {
  /** Seconds without a use after which a session has ended for its browser; 0: never. */
  readonly idleAfter: number;

  /** `idleSignOut` in seconds; 0: sessions never end for idleness. */
  constructor(options: SampledUsesOptions, idleSignOut: number) {
    super(options, {
      statement: statementOf(idleSignOut),
      what: 'uses of sessions',
      everyMs: roundOf(idleSignOut) * 1000,
    });
    this.idleAfter = idleAfter(idleSignOut);
  }
}
