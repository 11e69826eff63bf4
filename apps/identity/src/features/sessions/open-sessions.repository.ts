import { type Actor, note } from '../../activity/activity.ts';
import type { Database } from '../../database.ts';
import { enqueue } from '../../outbox/outbox.ts';
import { endSession, revokeOtherSessions } from '../../tokens/revoke.ts';
import { lockUser } from '../../users/users.ts';
import type { DevicesService } from '../devices/devices.service.ts';

/** Maximum length of the list; most users have a handful of sessions. */
export const MAX_SESSIONS = 200;

/** An open session. */
export interface OpenSession {
  readonly id: string;
  /** Null if the device is no longer recorded. */
  readonly deviceId: string | null;
  readonly ipAddress: string | null;
  readonly userAgent: string | null;
  readonly isRemembered: boolean;
  readonly createdAt: Date;
  /** When a page or token of the session was last used, with a precision of a few minutes. */
  readonly lastActiveAt: Date;
  readonly expiresAt: Date;
  /** Names of the applications signed in with this session, in alphabetical order. */
  readonly applications: readonly string[];
}

export class OpenSessionsRepository {
  readonly #database: Database;
  readonly #devices: Pick<DevicesService, 'endTrustOfOthers'>;

  constructor(database: Database, devices: Pick<DevicesService, 'endTrustOfOthers'>) {
    this.#database = database;
    this.#devices = devices;
  }

  /** Most recently used first. */
  list(userId: string): Promise<OpenSession[]> {
    return this.#database.$queryRaw<OpenSession[]>`
      SELECT s.id, s.device_id AS "deviceId", s.ip_address AS "ipAddress",
        s.user_agent AS "userAgent", s.is_remembered AS "isRemembered",
        s.created_at AS "createdAt", s.expires_at AS "expiresAt",
        greatest(s.last_active_at, t.issued_at) AS "lastActiveAt",
        coalesce(t.applications, '{}') AS applications
      FROM identity.sessions s
      LEFT JOIN LATERAL (
        SELECT max(t.created_at) AS issued_at, array_agg(DISTINCT c.name ORDER BY c.name)
          FILTER (WHERE c.name IS NOT NULL AND t.revoked_at IS NULL) AS applications
        FROM identity.tokens t LEFT JOIN identity.oauth_clients c ON c.client_id = t.client_id
        WHERE t.session_id = s.id AND t.user_id = s.user_id) t ON true
      WHERE s.user_id = ${userId}::uuid AND s.ended_at IS NULL AND s.expires_at > now()
      ORDER BY "lastActiveAt" DESC, s.id LIMIT ${MAX_SESSIONS}`;
  }

  /** Ends a session and revokes its tokens; false if the user has no such session. */
  end(actor: Actor, sessionId: string): Promise<boolean> {
    const { userId } = actor;
    return this.#database.$transaction(async (tx) => {
      await lockUser(tx, userId);
      const isOpen = await tx.session.count({
        where: { id: sessionId, userId, endedAt: null, expiresAt: { gt: new Date() } },
      });
      if (isOpen === 0) return false;
      const revocation = await endSession(tx, { sessionId, userId }, 'session_revoked');
      await note(tx, actor, 'session_revoked');
      await enqueue(tx, revocation);
      return true;
    });
  }

  /** Ends all other sessions and revokes trust in all other devices. */
  async endOthers(
    actor: Actor,
    current: { readonly sessionId: string | null; readonly tokenId: string },
  ): Promise<void> {
    const { userId } = actor;
    await this.#database.$transaction(async (tx) => {
      const revocations = await revokeOtherSessions(tx, { userId, ...current }, 'logout_others');
      await this.#devices.endTrustOfOthers(tx, userId, current.sessionId);
      await note(tx, actor, 'logout_others');
      if (revocations.length > 0) await enqueue(tx, ...revocations);
    });
  }
}
