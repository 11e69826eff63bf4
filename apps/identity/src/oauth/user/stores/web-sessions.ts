import type { Adapter } from 'oidc-provider';
import type { Database, Transaction } from '../../../database.ts';
import { digest } from '../../../security/secrets.ts';
import { absentModel } from '../../absent-model.ts';
import { requestContext } from '../request-context.ts';

/** The web session that a browser's cookie identifies. */
export interface WebSession {
  readonly id: string;
  readonly userId: string;
  readonly amr: string[];
  /** No code is issued before the PIN is entered (decision I3). */
  readonly pinPending: boolean;
  readonly forcePasswordChange: boolean;
  /** Whether the user has confirmed their address: no code is issued before (decision I21). */
  readonly isConfirmed: boolean;
  readonly createdAt: Date;
  /** When the user last proved who they are: `auth_time`. */
  readonly authenticatedAt: Date;
  readonly expiresAt: Date;
  /** The tenants of the user, the active one first. */
  readonly tenantIds: string[];
}

/** The session with this cookie; undefined if it has ended, was idle for too long or its user is inactive. */
export const findWebSession = async (
  db: Database | Transaction,
  secret: string,
  idleAfter: number,
): Promise<WebSession | undefined> => {
  const secretHash = digest(secret);
  const [session] = await db.$queryRaw<WebSession[]>`
    SELECT s.id, s.user_id AS "userId", s.amr, s.pin_pending AS "pinPending",
      u.force_password_change AS "forcePasswordChange",
      u.email_verified_at IS NOT NULL AS "isConfirmed",
      s.created_at AS "createdAt", s.authenticated_at AS "authenticatedAt",
      s.expires_at AS "expiresAt",
      ARRAY(SELECT m.tenant_id::text FROM identity.memberships m WHERE m.user_id = u.id
        ORDER BY m.tenant_id = u.tenant_id DESC, m.created_at) AS "tenantIds"
    FROM identity.sessions s JOIN identity.users u ON u.id = s.user_id AND u.is_active
    WHERE s.secret_hash = ${secretHash} AND s.ended_at IS NULL AND s.expires_at > now()
      AND (s.is_remembered OR ${idleAfter}::float8 = 0
        OR s.last_active_at > now() - make_interval(secs => ${idleAfter}::float8))`;
  return session;
};

const seconds = (time: Date): number => Math.floor(+time / 1000);

/**
 * The provider's sessions are our web sessions: it finds them by the cookie and never creates, changes or ends
 * one. Nothing is stored for a browser without a session.
 */
export const sessionStore: Adapter = {
  ...absentModel,
  async find(cookie) {
    const request = requestContext();
    const session = await findWebSession(request.db, cookie, request.sessionUses.idleAfter);
    if (!session) return undefined;
    request.sessionUses.note(session.id);
    request.session = session;
    return {
      jti: cookie,
      kind: 'Session',
      uid: session.id,
      accountId: session.userId,
      loginTs: seconds(session.authenticatedAt),
      amr: session.amr,
      iat: seconds(session.createdAt),
      exp: seconds(session.expiresAt),
    };
  },
};
