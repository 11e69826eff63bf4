import { type Actor, note } from '../../activity/activity.ts';
import type { Database } from '../../database.ts';
import { enqueue } from '../../outbox/outbox.ts';
import type { ClientKind } from '../../tokens/caller.ts';
import { revokeClientTokens } from '../../tokens/revoke.ts';
import { API_SCOPE } from '../../tokens/scopes.ts';
import { lockUser } from '../../users/users.ts';

/** An application that has the user's consent or an active sign-in. */
export interface Application {
  readonly clientId: string;
  readonly name: string;
  readonly kind: ClientKind;
  /** Name of the tenant that registered the client; null for other clients. */
  readonly ownerName: string | null;
  /** The tenant of the consent, or else of the last token; null if the user had no tenant. */
  readonly tenant: { readonly id: string; readonly slug: string; readonly name: string } | null;
  readonly scopes: readonly string[];
  /** Whether the user gave consent. Clients trusted by the platform or the tenant need none. */
  readonly hasConsent: boolean;
  readonly isSignedIn: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** When a token was last issued to it; null if unknown. */
  readonly lastUsedAt: Date | null;
}

export class ApplicationsRepository {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Applications with the user's consent or an active sign-in, by name, at most `limit`. An application is
   * signed in while it has a valid access or refresh token.
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
   * Withdraws the user's consent to a client and revokes its tokens. False if there is neither a consent nor a
   * valid token.
   */
  withdraw(actor: Actor, clientId: string): Promise<boolean> {
    const { userId } = actor;
    return this.#database.$transaction(async (tx) => {
      // Code and refresh token exchanges take this lock too, and then find no consent.
      await lockUser(tx, userId);
      const { count } = await tx.consent.deleteMany({ where: { userId, clientId } });
      const hadConsent = count > 0;
      const isClient = hadConsent || (await tx.oAuthClient.count({ where: { clientId } })) > 0;
      // A session without a client is not an application.
      if (!isClient) return false;
      const reason = hadConsent ? 'consent_withdrawn' : 'application_signed_out';
      const revocations = await revokeClientTokens(tx, { userId, clientId }, reason);
      if (!hadConsent && revocations.length === 0) return false;
      await note(tx, actor, hadConsent ? 'application_withdrawn' : 'application_signed_out');
      if (revocations.length > 0) await enqueue(tx, ...revocations);
      return true;
    });
  }
}
