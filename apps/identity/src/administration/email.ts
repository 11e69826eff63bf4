import { email as emailField } from '@tessera/fields';
import { noteCommand } from '../activity/activity.ts';
import { changesBetween } from '../activity/changes.ts';
import type { Database, Transaction } from '../database.ts';
import { setAddress } from '../features/email-change/address-change.ts';
import type { User } from '../generated/prisma/client.ts';
import type { MailOutbox } from '../mail/outbox.ts';
import { SecurityMails } from '../mail/security-mails.ts';
import { enqueue } from '../outbox/outbox.ts';
import { voidOneTimeTokens } from '../tokens/one-time.ts';
import { findPerson, lockAddress, lockUser } from '../users/users.ts';
import { valid } from './create.ts';

/** Locks the person who confirmed an address. Throws if nobody has. */
const confirmedPerson = async (tx: Transaction, email: string): Promise<User> => {
  const user = await findPerson(tx, email);
  if (!user?.emailVerifiedAt) throw new Error(`Nobody has confirmed the address ${email}.`);
  await lockUser(tx, user.id);
  return user;
};

/**
 * Changes the address of a person, which counts as confirmed, and notifies both addresses. Links that were mailed
 * to the old address stop working; sessions continue. Throws if nobody has confirmed the old address, or somebody
 * has confirmed the new one.
 */
export const changeEmail = async (
  { database, mail }: { readonly database: Database; readonly mail: MailOutbox },
  givenEmail: string,
  givenNew: string,
): Promise<{ email: string; previous_email: string }> => {
  const from = valid(emailField(), givenEmail, 'email');
  const to = valid(emailField(), givenNew, 'new_email');
  if (from === to) throw new Error(`new_email: ${to} is the address that they have.`);
  await database.$transaction(async (tx) => {
    await lockAddress(tx, to);
    const user = await confirmedPerson(tx, from);
    const { id: userId, tenantId } = user;
    const holder = await findPerson(tx, to);
    if (holder?.emailVerifiedAt) throw new Error(`new_email: somebody has the address ${to}.`);
    const news = await setAddress(tx, user, to);
    // The owner of an earlier address cannot undo the change of an operator.
    await voidOneTimeTokens(tx, 'email_change_undo', { userId });
    const changes = changesBetween({ email: from }, { email: to });
    await noteCommand(tx, 'change-email', 'email_changed', { userId, tenantId, changes });
    await new SecurityMails(mail).notifyAddressChanged(tx, user, { from, to });
    await enqueue(tx, ...news);
  });
  return { email: to, previous_email: from };
};
