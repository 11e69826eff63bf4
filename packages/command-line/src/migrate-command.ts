import type { Command } from 'commander';
import type { CommandLine } from './program.ts';

/** Reports on standard error what a migration waits for; standard output has the result of the command only. */
export const migrationLog = {
  info: (): void => undefined,
  warn: (what: object, message: string): void =>
    console.error(`${message}: ${JSON.stringify(what)}`),
};

/** Adds `migrate` to an administration program, whose sessions migrate the database. */
export const addMigrateCommand = <Session>({
  program,
  run,
}: Pick<CommandLine<Session>, 'program' | 'run'>): Command =>
  program
    .command('migrate')
    .description('bring the database up to date')
    .option('--retry <name>', 'first let a migration that failed or was interrupted run again')
    .addHelpText(
      'after',
      [
        '\nA migration that failed may leave an effect if it runs without a transaction, such as an invalid',
        'index: undo that before --retry. Migrations that run in a transaction leave nothing.',
        `\nExamples:\n  $ ${program.name()} migrate`,
      ].join('\n'),
    )
    .action(({ retry }: { retry?: string }) => run(async () => ({ migrated: true }), retry));
