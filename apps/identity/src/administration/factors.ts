import { email as emailField } from '@tessera/fields';
import { noteCommand } from '../activity/activity.ts';
import type { Database, Transaction } from '../database.ts';
import { DevicesRepository } from '../features/devices/devices.repository.ts';
import type { MailOutbox } from '../mail/outbox.ts';
import { SecurityMails } from '../mail/security-mails.ts';
import { enqueue } from '../outbox/outbox.ts';
import { revokeUserTokens } from '../tokens/revoke.ts';
import { findPerson, lockUser } from '../users/users.ts';
import { valid } from './create.ts';

/** An authentication factor besides the password. */
export const factors = ['two-factor', 'pin'] as const;

export type Factor = (typeof factors)[number];

/** Deletes a factor and returns the number of rows. */
const deleteFactor = async (tx: Transaction, userId: string, factor: Factor): Promise<number> => {
  if (factor === 'pin') return (await tx.pin.deleteMany({ where: { userId } })).count;
  await tx.recoveryCode.deleteMany({ where: { userId } });
  return (await tx.twoFactor.deleteMany({ where: { userId } })).count;
};

/**
 * Removes the second factor or the PIN of a person who has lost it, signs them out everywhere, and notifies them
 * by mail. Throws if nobody has the address, or the factor is not enabled.
 */
export const removeFactor = async (
  { database, mail }: { readonly database: Database; readonly mail: MailOutbox },
  givenEmail: string,
  factor: Factor,
): Promise<{ email: string; removed: Factor }> => {
  const email = valid(emailField(), givenEmail, 'email');
  await database.$transaction(async (tx) => {
    const user = await findPerson(tx, email);
    if (!user) throw new Error(`There is no user with the address ${email}.`);
    const { id: userId, tenantId } = user;
    await lockUser(tx, userId);
    if ((await deleteFactor(tx, userId, factor)) === 0) throw new Error(`${factor} is not on.`);
    await new DevicesRepository(database).endTrust(tx, userId);
    const gone = await revokeUserTokens(tx, { userId }, 'factor_removed');
    const action = factor === 'pin' ? 'pin_removed' : 'two_factor_removed';
    await noteCommand(tx, 'remove-factor', action, { userId, tenantId });
    await new SecurityMails(mail).notifyFactorRemoved(
      tx,
      userId,
      factor === 'pin' ? 'pin' : 'two_factor',
    );
    await enqueue(tx, gone);
  });
  return { email, removed: factor };
};
