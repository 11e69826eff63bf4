import type { Command } from 'commander';
import { deleteUser } from '../personal-data/delete-user.ts';
import { exportUser } from '../personal-data/export-user.ts';
import { examples, type Run } from './run.ts';

/** Commands for all data of one person. */
export const addPersonCommands = (program: Command, run: Run): void => {
  program
    .command('export-user <user> <folder>')
    .description('export all data about a user to a new folder')
    .addHelpText(
      'after',
      [
        '\nThe user is an address that they have confirmed, or an id. Make sure that it is they who ask.',
        examples('export-user ada@example.com ada'),
      ].join('\n'),
    )
    .action((user: string, folder: string) => run((session) => exportUser(session, user, folder)));

  program
    .command('delete-user <user>')
    .description('delete the account of a user and all data about them, for good')
    .requiredOption('--yes', 'confirm that nothing can be restored, except from a backup')
    .addHelpText(
      'after',
      [
        '\nThe user is an address that they have confirmed, or an id. They are notified by mail. Then run',
        '`crm-admin erase-user` with the id, which this prints.',
        examples('delete-user ada@example.com --yes'),
      ].join('\n'),
    )
    .action((user: string) => run((session) => deleteUser(session, user)));
};
