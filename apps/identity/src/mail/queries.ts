/**
 * Claims due mails in turns by the domain of their recipients. $1 is the number of free places, $2 the largest share of a
 * domain, and $3 has what is taken of it, by domain. As in `Shares`, a domain may have half of what the others leave, so that
 * several domains do not take all places; half of the free places are claimed at once. Nobody else gets a claimed mail for a minute, so that it is sent once, and not
 * lost if the process is killed.
 */
export const CLAIM = `
  WITH due AS MATERIALIZED (
    SELECT id, next_attempt_at AS due_at, taken,
      taken + row_number() OVER (PARTITION BY recipient_domain ORDER BY next_attempt_at, id) AS turn
    FROM identity.outbox_mails
      CROSS JOIN LATERAL (SELECT coalesce(($3::jsonb ->> recipient_domain)::int, 0) AS taken) domain
    WHERE next_attempt_at <= now() AND expires_at > now()),
  chosen AS MATERIALIZED (
    SELECT id, due_at FROM due WHERE turn <= $2 AND 2 * turn <= $1::int + taken + 1
    ORDER BY turn, due_at, id LIMIT ($1::int + 1) / 2),
  locked AS MATERIALIZED (
    SELECT m.id, chosen.due_at FROM identity.outbox_mails m JOIN chosen ON chosen.id = m.id
    WHERE m.next_attempt_at <= now() FOR UPDATE OF m SKIP LOCKED)
  UPDATE identity.outbox_mails m
  SET attempts = m.attempts + 1, next_attempt_at = now() + interval '1 minute'
  FROM locked WHERE m.id = locked.id
  RETURNING m.id, m.recipient_domain AS domain, m.sealed_message AS sealed, m.attempts, locked.due_at AS "dueAt"`;

export const REMOVE = 'DELETE FROM identity.outbox_mails WHERE id = $1';

/** The attempts tell whether the claim still holds. */
export const RELEASE = `
  UPDATE identity.outbox_mails SET attempts = attempts - 1, next_attempt_at = $3
  WHERE id = $1 AND attempts = $2`;

/** With exponential backoff from one minute to one hour. */
export const POSTPONE = `
  UPDATE identity.outbox_mails
  SET next_attempt_at = now() + least(interval '1 minute' * 2 ^ least(attempts - 1, 16), interval '1 hour')
  WHERE id = $1 AND attempts = $2`;

export const POSTPONE_DOMAIN = `
  UPDATE identity.outbox_mails SET next_attempt_at = now() + interval '1 second' * $2
  WHERE recipient_domain = $1 AND next_attempt_at <= now()`;

/**
 * A claimed mail is due within a minute, and stays with the process that sends it. Other than `now()`, the clock is never behind
 * the time of a claim that the statement sees.
 */
export const RETRY = `
  UPDATE identity.outbox_mails SET next_attempt_at = now()
  WHERE next_attempt_at > clock_timestamp() + interval '1 minute' AND ($1::text IS NULL OR recipient_domain = $1)`;

export const BACKLOG = `
  SELECT count(*)::int AS waiting,
    coalesce(greatest(extract(epoch FROM now() - min(created_at)), 0), 0)::float8 AS oldest,
    coalesce(greatest(extract(epoch FROM now() - min(next_attempt_at)), 0), 0)::float8 AS overdue
  FROM identity.outbox_mails WHERE expires_at > now()`;

export const BY_DOMAIN = `
  SELECT recipient_domain AS domain, count(*)::int AS waiting, max(attempts) AS attempts,
    min(created_at) AS oldest_at, min(next_attempt_at) AS next_attempt_at
  FROM identity.outbox_mails WHERE expires_at > now()
  GROUP BY recipient_domain ORDER BY waiting DESC, domain LIMIT 100`;
