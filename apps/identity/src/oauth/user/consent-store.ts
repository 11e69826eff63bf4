import type { Database, Transaction } from '../../database.ts';
import { enqueue } from '../../outbox/outbox.ts';
import { revokeClientTokens } from '../../tokens/revoke.ts';
import { opensApi } from '../../tokens/scopes.ts';
import { lockUser } from '../../users/users.ts';
import { coversPattern } from '../system/scopes.ts';

/** What a user allowed a client, and in which of their tenants. */
export interface Consent {
  /** The tenant that was active when it was given; null where the user had none. */
  readonly tenantId: string | null;
  readonly scopes: readonly string[];
}

interface Parties {
  readonly userId: string;
  readonly clientId: string;
}

/** What a user allowed a client; null where it is nothing, or was withdrawn. */
export const findConsent = (
  db: Pick<Database, 'consent'>,
  { userId, clientId }: Parties,
): Promise<Consent | null> =>
  db.consent.findUnique({ where: { userId_clientId: { userId, clientId } } });

/** Whether a consent allows all of these scopes to somebody who is a member of these tenants. */
export const allows = (
  { tenantId, scopes }: Consent,
  asked: readonly string[],
  tenantIds: readonly string[],
): boolean => {
  // Permissions that were allowed before there was a tenant were allowed in none.
  const isPlaceKnown =
    tenantId === null ? tenantIds.length === 0 || !opensApi(asked) : tenantIds.includes(tenantId);
  const isAllowed = (scope: string): boolean =>
    scopes.some((allowed) => coversPattern(allowed, scope));
  return isPlaceKnown && asked.every(isAllowed);
};

/**
 * Remembers what a user allows a client, in addition to what they allowed it in the same tenant. In another
 * tenant the consent begins anew, and everything that the client holds for the user ends.
 */
export const rememberConsent = async (
  tx: Transaction,
  { userId, clientId }: Parties,
  { tenantId, scopes }: Consent,
): Promise<void> => {
  await lockUser(tx, userId);
  const before = await findConsent(tx, { userId, clientId });
  if (before && before.tenantId !== tenantId) {
    const news = await revokeClientTokens(tx, { userId, clientId }, 'consent_withdrawn');
    if (news.length > 0) await enqueue(tx, ...news);
  }
  await tx.$executeRaw`
    INSERT INTO identity.consents AS known (user_id, client_id, tenant_id, scopes, updated_at)
    VALUES (${userId}::uuid, ${clientId}, ${tenantId}::uuid, ${[...scopes]}::text[], now())
    ON CONFLICT (user_id, client_id) DO UPDATE SET updated_at = excluded.updated_at,
      tenant_id = excluded.tenant_id,
      scopes = CASE WHEN known.tenant_id IS NOT DISTINCT FROM excluded.tenant_id
        THEN ARRAY(SELECT DISTINCT scope FROM unnest(known.scopes || excluded.scopes) AS scope
          ORDER BY scope)
        ELSE excluded.scopes END`;
};
