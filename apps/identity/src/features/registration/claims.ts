import type { Transaction } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { NewEvent } from '../../outbox/outbox.ts';
import { removeUsers } from '../../users/user-removal.ts';

/** A user with the address that they claim or are confirming. */
export interface Claimant {
  readonly id: string;
  readonly email: string;
}

/** How many unconfirmed accounts may have the same address, not counting members of a tenant. */
export const MAX_CLAIMS = 10;

/** How many claims a transaction deletes. Each takes about a millisecond. */
const MAX_DELETED = 100;

/** SQL condition on `u`: another unconfirmed account with the address that is a member of no tenant. */
const isOtherClaim = ({ id, email }: Claimant): Prisma.Sql => Prisma.sql`
  u.email = ${email} AND u.id <> ${id}::uuid
  AND NOT u.is_service_account AND u.email_verified_at IS NULL
  AND NOT EXISTS (SELECT FROM identity.memberships m WHERE m.user_id = u.id)`;

/**
 * Deletes those of the other claims that also meet `condition`. If there are very many, most of them are deactivated and
 * expire at once: housekeeping deletes them by their registrations, and the transaction stays short.
 */
const endClaims = async (
  tx: Transaction,
  claimant: Claimant,
  condition: Prisma.Sql,
): Promise<NewEvent[]> => {
  // Rows that change while this waits for them are checked again. Memberships are added under the lock of the address. A
  // stronger lock would wait for the tokens that are added under the locks of sessions, which `removeUsers` takes next.
  const claims = Prisma.sql`
    SELECT u.id FROM identity.users u WHERE ${isOtherClaim(claimant)} AND ${condition}
    ORDER BY u.id`;
  const found = await tx.$queryRaw<
    { id: string }[]
  >`${claims} LIMIT ${MAX_DELETED} FOR NO KEY UPDATE OF u`;
  const events = await removeUsers(
    tx,
    found.map(({ id }) => id),
  );
  if (found.length === MAX_DELETED) {
    await tx.$executeRaw`
      WITH claims AS (${claims} FOR NO KEY UPDATE OF u),
      deactivated AS (
        UPDATE identity.users SET is_active = false, updated_at = now()
        WHERE id IN (SELECT id FROM claims))
      UPDATE identity.registrations SET expires_at = now()
      WHERE user_id IN (SELECT id FROM claims)`;
  }
  return events;
};

/**
 * Ends the other unconfirmed accounts with this address. Members of a tenant are kept and must change their
 * address. The caller has locked the address (`lockAddress`), and enqueues the returned events.
 */
export const endOtherClaims = (tx: Transaction, claimant: Claimant): Promise<NewEvent[]> =>
  endClaims(tx, claimant, Prisma.sql`true`);

/**
 * Ends other claims to the address until `MAX_CLAIMS` are left with the claimant's, so that nobody can pile them up.
 * Those that a link was issued for are kept before the rest, and newer ones before older ones: links are limited, so a
 * stranger who registers again and again does not soon invalidate the one that the owner of the address has
 * received. Links are issued whether or not another account has confirmed the address, so that which claims are kept does
 * not show this. The caller has locked the address (`lockAddress`), and enqueues the returned events.
 */
export const limitClaims = (tx: Transaction, claimant: Claimant): Promise<NewEvent[]> =>
  endClaims(
    tx,
    claimant,
    Prisma.sql`u.id IN (
      SELECT u.id FROM identity.users u WHERE u.is_active AND ${isOtherClaim(claimant)}
      ORDER BY EXISTS (SELECT FROM identity.one_time_tokens t
          WHERE t.user_id = u.id AND t.used_at IS NULL AND t.expires_at > now()) DESC, u.id DESC
      OFFSET ${MAX_CLAIMS - 1})`,
  );
