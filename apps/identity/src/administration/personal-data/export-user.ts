import { createExportFolder } from '@tessera/command-line';
import { noteCommand } from '../../activity/activity.ts';
import { PersonalDataRepository } from '../../features/personal-data/personal-data.repository.ts';
import { personalDataDocument } from '../../features/personal-data/personal-data.service.ts';
import { SecurityMails } from '../../mail/security-mails.ts';
import type { Session } from '../session.ts';
import { findUser } from './find-user.ts';

/**
 * Exports all data about a user to a new folder: the document that they can download themselves, and their picture.
 * The activity log mentions it, but neither the log of the user nor a mail.
 */
export const exportUser = async (
  { database, mail }: Pick<Session, 'database' | 'mail'>,
  emailOrId: string,
  folder: string,
): Promise<{ user_id: string; folder: string }> => {
  const { id } = await findUser(database, emailOrId);
  const target = await createExportFolder(folder);
  const repository = new PersonalDataRepository({
    database,
    securityMails: new SecurityMails(mail),
  });
  await target.write('personal-data.json', personalDataDocument(repository, id));
  const picture = await database.profilePicture.findUnique({ where: { userId: id } });
  if (picture) {
    const { large } = picture;
    await target.write(
      'picture.webp',
      (async function* () {
        yield large;
      })(),
    );
  }
  await noteCommand(database, 'export-user', 'user_exported', { subjectId: id });
  await target.finish({ format: 'tessera-identity-user', format_version: 1, user_id: id });
  return { user_id: id, folder };
};
