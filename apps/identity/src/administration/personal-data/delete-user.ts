import { noteCommand } from '../../activity/activity.ts';
import { AccountDeletionRepository } from '../../features/account-deletion/account-deletion.repository.ts';
import { SecurityMails } from '../../mail/security-mails.ts';
import type { Session } from '../session.ts';
import { findUser } from './find-user.ts';

/**
 * Deletes the account of a user and all personal data at once, as if the time that users have to change their mind had
 * passed. Throws if nobody else could administer a tenant or the platform.
 */
export const deleteUser = async (
  { database, mail }: Pick<Session, 'database' | 'mail'>,
  emailOrId: string,
): Promise<{ user_id: string; deleted: true }> => {
  const { id: userId, isServiceAccount } = await findUser(database, emailOrId);
  if (isServiceAccount) {
    throw new Error('This is a service account, which its tenant can delete.');
  }
  const accounts = new AccountDeletionRepository({
    database,
    mail,
    securityMails: new SecurityMails(mail),
  });
  const { tenants, isLastAdministrator } = await accounts.blockers(userId);
  if (tenants.length > 0) {
    const slugs = tenants.map(({ slug }) => slug).join(', ');
    throw new Error(`The user is the last owner of ${slugs}. Make another member an owner first.`);
  }
  if (isLastAdministrator) throw new Error('The user is the last administrator of the system.');
  const now = new Date();
  await database.accountDeletion.upsert({
    where: { userId },
    create: { userId, requestedAt: now, dueAt: now, remindedAt: now },
    update: { dueAt: now, remindedAt: now },
  });
  const outcome = await accounts.remove(userId, (tx) =>
    noteCommand(tx, 'delete-user', 'account_deleted', { subjectId: userId }),
  );
  // The service itself may have deleted the account, which is due, in the meantime.
  const isGone = (await database.user.findUnique({ where: { id: userId } })) === null;
  if (outcome !== 'deleted' && !isGone) {
    throw new Error('The user could not be deleted. Run this again.');
  }
  return { user_id: userId, deleted: true };
};
