import { type Actor, note } from '../../activity/activity.ts';
import type { Database } from '../../database.ts';
import { enqueue } from '../../outbox/outbox.ts';
import type { ClientKind } from '../../tokens/caller.ts';
import { revokeClientTokens } from '../../tokens/revoke.ts';
import { API_SCOPE } from '../../tokens/scopes.ts';
import { lockUser } from '../../users/users.ts';

/** An application that acts for a user: they allowed it to, or they are signed in to it. */
export interface Application {
  readonly clientId: string;
  readonly name: string;
  readonly kind: ClientKind;
  /** The tenant whose client it is; null for any other. */
  readonly ownerName: string | null;
  /** Where it may act, or else where it acted last; null where the user had no tenant. */
  readonly tenant: { readonly id: string; readonly slug: string; readonly name: string } | null;
  readonly scopes: readonly string[];
  /** Whether the user was asked and allowed it; others are trusted by the platform or the tenant. */
  readonly hasConsent: boolean;
  readonly isSignedIn: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** When it was last given a token; null where that is not known. */
  readonly lastUsedAt: Date | null;
}

export class ApplicationsRepository {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Those that a user allowed or is signed in to, by name; at most `limit`. Signed in is an application that
   * has an access token or a refresh token which is still good.
   */
  list(userId: string, limit: number): Promise<Application[]> {
    return this.#database.$queryRaw<Application[]>`
      WITH live AS (
        SELECT t.client_id, t.tenant_id, t.created_at, t.scopes
        FROM identity.tokens t
        JOIN identity.sessions s ON s.id = t.session_id AND s.ended_at IS NULL
          AND s.expires_at > now()
        WHERE t.user_id = ${userId}::uuid AND t.use = 'code' AND t.revoked_at IS NULL
          AND (t.expires_at > now() OR EXISTS (SELECT FROM identity.oauth_artifacts a
            WHERE a.grant_id = t.grant_id AND a.model = 'RefreshToken' AND a.expires_at > now()
              AND NOT a.payload ? 'consumed'))),
      signed_in AS (
        SELECT client_id, min(created_at) AS since, max(created_at) AS last,
          (array_agg(tenant_id ORDER BY created_at DESC))[1] AS tenant_id,
          bool_or(scopes IS NULL) AS is_unlimited
        FROM live GROUP BY client_id)
      SELECT c.client_id AS "clientId", c.name,
        CASE WHEN c.is_first_party THEN 'first_party' WHEN c.tenant_id IS NOT NULL THEN 'tenant'
          ELSE 'third_party' END AS kind,
        o.name AS "ownerName",
        CASE WHEN n.id IS NOT NULL
          THEN jsonb_build_object('id', n.id, 'slug', n.slug, 'name', n.name) END AS tenant,
        CASE WHEN k.user_id IS NOT NULL THEN k.scopes WHEN i.is_unlimited THEN ARRAY[${API_SCOPE}]
          ELSE ARRAY(SELECT DISTINCT scope FROM live l, unnest(l.scopes) AS scope
            WHERE l.client_id = c.client_id ORDER BY scope) END AS scopes,
        k.user_id IS NOT NULL AS "hasConsent", i.client_id IS NOT NULL AS "isSignedIn",
        coalesce(k.created_at, i.since) AS "createdAt",
        coalesce(k.updated_at, i.last) AS "updatedAt", i.last AS "lastUsedAt"
      FROM identity.oauth_clients c
      LEFT JOIN identity.consents k ON k.client_id = c.client_id AND k.user_id = ${userId}::uuid
      LEFT JOIN signed_in i ON i.client_id = c.client_id
      LEFT JOIN identity.tenants o ON o.id = c.tenant_id
      LEFT JOIN identity.tenants n ON n.id =
        CASE WHEN k.user_id IS NOT NULL THEN k.tenant_id ELSE i.tenant_id END
      WHERE c.client_id IN (SELECT client_id FROM identity.consents
          WHERE user_id = ${userId}::uuid UNION SELECT client_id FROM signed_in)
      ORDER BY c.name, c.client_id LIMIT ${limit}`;
  }

  /**
   * Withdraws what a user allowed a client and ends all that it holds for them: they are signed out of it.
   * False where there is neither consent nor a token that is good.
   */
  withdraw(actor: Actor, clientId: string): Promise<boolean> {
    const { userId } = actor;
    return this.#database.$transaction(async (tx) => {
      // Whoever exchanges a code or a refresh token of the user holds this lock too, and finds no consent.
      await lockUser(tx, userId);
      const { count } = await tx.consent.deleteMany({ where: { userId, clientId } });
      const hadConsent = count > 0;
      const isClient = hadConsent || (await tx.oAuthClient.count({ where: { clientId } })) > 0;
      // What is signed in without a client is no application.
      if (!isClient) return false;
      const reason = hadConsent ? 'consent_withdrawn' : 'application_signed_out';
      const news = await revokeClientTokens(tx, { userId, clientId }, reason);
      if (!hadConsent && news.length === 0) return false;
      await note(tx, actor, hadConsent ? 'application_withdrawn' : 'application_signed_out');
      if (news.length > 0) await enqueue(tx, ...news);
      return true;
    });
  }
}
