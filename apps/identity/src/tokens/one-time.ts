import { v7 as uuidv7 } from 'uuid';
import type { Transaction } from '../database.ts';
import type { OneTimeToken } from '../generated/prisma/client.ts';
import { digest, newSecret } from '../security/secrets.ts';

export type Purpose =
  | 'password_reset'
  | 'email_verification'
  | 'email_change'
  | 'email_change_undo'
  | 'invitation';

/** What a one-time token allows. */
export interface OneTimeGrant
  extends Partial<
    Pick<OneTimeToken, 'userId' | 'tenantId' | 'roleId' | 'inviterId' | 'firstName' | 'lastName'>
  > {
  /** When what the link is for began. Now by default. */
  readonly createdAt?: Date | undefined;
  readonly purpose: Purpose;
  /** The address that it is sent to; presenting it proves access to the mailbox. */
  readonly email: string;
  /** In seconds. */
  readonly lifetime: number;
}

type Reads = Pick<Transaction, 'oneTimeToken'>;

/** Issues a token for the link of a mail. Only its SHA-256 is stored. */
export const issueOneTimeToken = async (
  tx: Reads,
  { lifetime, createdAt, ...grant }: OneTimeGrant,
): Promise<string> => {
  const token = newSecret();
  const expiresAt = new Date(Date.now() + lifetime * 1000);
  await tx.oneTimeToken.create({
    data: {
      ...grant,
      ...(createdAt && { createdAt }),
      id: uuidv7(),
      tokenHash: digest(token),
      expiresAt,
    },
  });
  return token;
};

/** The record of a token that has not expired, used or not; null if there is none. */
export const findOneTimeToken = (
  database: Reads,
  purpose: Purpose,
  token: string,
): Promise<OneTimeToken | null> =>
  database.oneTimeToken.findUnique({
    where: { tokenHash: digest(token), purpose, expiresAt: { gt: new Date() } },
  });

/** Matches invitations that can still be accepted. */
export const pendingInvitation = () =>
  ({ purpose: 'invitation', usedAt: null, expiresAt: { gt: new Date() } }) as const;

/** What answers add if something withdrew invitations. */
export const withdrawnInvitations = (count: number): string => {
  if (count === 0) return '';
  if (count === 1) return ' 1 pending invitation has been withdrawn.';
  return ` ${count} pending invitations have been withdrawn.`;
};

/** Marks a token as used; false if it is already used or expired, so that only one of two requests gets true. */
export const spendOneTimeToken = async (
  tx: Reads,
  { tokenHash }: Pick<OneTimeToken, 'tokenHash'>,
): Promise<boolean> => {
  const now = new Date();
  const { count } = await tx.oneTimeToken.updateMany({
    where: { tokenHash, usedAt: null, expiresAt: { gt: now } },
    data: { usedAt: now },
  });
  return count === 1;
};

/** Invalidates all tokens of a purpose for this user, or for this address in this tenant: all of them, or those named. */
export const voidOneTimeTokens = async (
  tx: Reads,
  purpose: Purpose,
  about:
    | { readonly userId: string }
    | { readonly email: string; readonly tenantId: string; readonly id?: { in: string[] } },
): Promise<void> => {
  await tx.oneTimeToken.updateMany({
    where: { purpose, usedAt: null, ...about },
    data: { usedAt: new Date() },
  });
};

/**
 * Deletes all tokens of these purposes for this user, used or not, where the export of the user's data must not show to
 * whom they were mailed.
 */
export const deleteOneTimeTokens = async (
  tx: Reads,
  userId: string,
  purposes: readonly Purpose[],
): Promise<void> => {
  await tx.oneTimeToken.deleteMany({ where: { userId, purpose: { in: [...purposes] } } });
};

/**
 * Makes the links of invitations to this address stop working, although the invitations remain: the managers of the
 * tenants must not see that an account has left the address (decision I20).
 */
export const breakInvitations = async (
  tx: Pick<Transaction, '$executeRaw'>,
  email: string,
): Promise<void> => {
  await tx.$executeRaw`
    UPDATE identity.one_time_tokens SET token_hash = sha256(uuid_send(gen_random_uuid()) || token_hash)
    WHERE email = ${email} AND purpose = 'invitation' AND used_at IS NULL`;
};
