import type { Command } from 'commander';
import type { Config } from '../../config.ts';
import { distribute } from './distribute.ts';

type Run = (work: (session: { readonly config: Config }) => Promise<object>) => Promise<void>;

/** Adds the command that moves a database to a Citus cluster. */
export const addDistributeCommand = (program: Command, run: Run): void => {
  program
    .command('distribute')
    .description('distribute the tables over the servers of a Citus cluster, by tenant')
    .addHelpText(
      'after',
      [
        '\nStop every instance of CRM first: the tables are locked while their rows are copied to the workers. The',
        'command is one transaction, compares the number of rows of each table before and after, and prints them.',
        'If it fails or is interrupted, nothing has changed. Called again, it distributes only new tables.',
        '\nExamples:\n  $ crm-admin distribute',
      ].join('\n'),
    )
    .action(() => run(({ config }) => distribute(config.database.directUrl)));
};
