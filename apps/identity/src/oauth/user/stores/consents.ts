import type { Database, Transaction } from '../../../database.ts';
import { enqueue } from '../../../outbox/outbox.ts';
import { revokeClientTokens } from '../../../tokens/revoke.ts';
import { includesScope, opensApi } from '../../../tokens/scopes.ts';
import { lockUser } from '../../../users/users.ts';

/** What a user allows a client, and in which tenant. */
export interface Consent {
  /** The tenant that was active at the time; null if the user had none. */
  readonly tenantId: string | null;
  readonly scopes: readonly string[];
}

interface Parties {
  readonly userId: string;
  readonly clientId: string;
}

/** The consent of a user to a client; null if there is none, or it was withdrawn. */
export const findConsent = (
  db: Pick<Database, 'consent'>,
  { userId, clientId }: Parties,
): Promise<Consent | null> =>
  db.consent.findUnique({ where: { userId_clientId: { userId, clientId } } });

/** Whether a consent covers all of these scopes for a user who is a member of these tenants. */
export const covers = (
  { tenantId, scopes }: Consent,
  requested: readonly string[],
  tenantIds: readonly string[],
): boolean => {
  // A consent given without a tenant allows no permissions in a tenant.
  const coversTenant =
    tenantId === null
      ? tenantIds.length === 0 || !opensApi(requested)
      : tenantIds.includes(tenantId);
  const isAllowed = (scope: string): boolean =>
    scopes.some((allowed) => includesScope(allowed, scope));
  return coversTenant && requested.every(isAllowed);
};

/**
 * Records a consent, in addition to earlier ones for the same tenant. For another tenant the consent starts
 * over, and everything that the client holds for the user is revoked.
 */
export const recordConsent = async (
  tx: Transaction,
  { userId, clientId }: Parties,
  { tenantId, scopes }: Consent,
): Promise<void> => {
  await lockUser(tx, userId);
  const before = await findConsent(tx, { userId, clientId });
  if (before && before.tenantId !== tenantId) {
    const events = await revokeClientTokens(tx, { userId, clientId }, 'consent_withdrawn');
    if (events.length > 0) await enqueue(tx, ...events);
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
