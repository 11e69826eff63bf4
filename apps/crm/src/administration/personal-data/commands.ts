import type { Command } from 'commander';
import type { Config } from '../../config.ts';
import { uuidArgument } from '../uuid-argument.ts';
import { eraseContact } from './erase-contact.ts';
import { eraseUser } from './erase-user.ts';
import { exportContact } from './export-contact.ts';
import { exportUser } from './export-user.ts';
import type { ErasureOptions } from './recorded-changes.ts';

type Run = (work: (session: { readonly config: Config }) => Promise<object>) => Promise<void>;

const CONFIRMATION = 'confirm that nothing can be restored, except from a backup';
const FOLDER = 'a folder that does not exist or is empty';
const EXAMPLE_ID = '01980a5d-ac96-774b-bcce-b302099a8057';

const erasureOf = ({ database, kafkaBrokers }: Config): ErasureOptions => ({
  directUrl: database.directUrl,
  distributed: database.distributed,
  publishesEvents: kafkaBrokers.length > 0,
});

/** Adds the commands for what CRM has about one person. */
export const addPersonCommands = (program: Command, run: Run): void => {
  program
    .command('export-contact')
    .description('export everything about a contact to a new folder')
    .argument('<tenant>', 'the id of the tenant', uuidArgument)
    .argument('<contact>', 'the id of the contact', uuidArgument)
    .argument('<folder>', FOLDER)
    .action((tenantId: string, contactId: string, folder: string) =>
      run(({ config }) =>
        exportContact(config.database.directUrl, { tenantId, contactId }, folder),
      ),
    );
  program
    .command('erase-contact')
    .description('erase everything about a contact that was deleted, for good')
    .argument('<tenant>', 'the id of the tenant', uuidArgument)
    .argument('<contact>', 'the id of the contact', uuidArgument)
    .requiredOption('--yes', CONFIRMATION)
    .addHelpText(
      'after',
      '\nPrints in how many rows of other tables the name, addresses or numbers of the contact still are, also former ones, and how many imports have not ended, whose files may contain them.',
    )
    .action((tenantId: string, contactId: string) =>
      run(({ config }) => eraseContact(erasureOf(config), { tenantId, contactId })),
    );
  program
    .command('export-user')
    .description('export every row that names a user, of all tenants, to a new folder')
    .argument('<user>', 'the id of the user', uuidArgument)
    .argument('<folder>', FOLDER)
    .addHelpText('after', `\nExamples:\n  $ crm-admin export-user ${EXAMPLE_ID} ada`)
    .action((userId: string, folder: string) =>
      run(({ config }) => exportUser({ directUrl: config.database.directUrl, userId, folder })),
    );
  program
    .command('erase-user')
    .description('replace the id of a deleted user by a random one, in all tenants, for good')
    .argument('<user>', 'the id of the user', uuidArgument)
    .requiredOption('--yes', CONFIRMATION)
    .addHelpText(
      'after',
      '\nDelete the user with `identity-admin delete-user` first: whoever still signs in would lose their records.',
    )
    .action((userId: string) => run(({ config }) => eraseUser(erasureOf(config), userId)));
};
