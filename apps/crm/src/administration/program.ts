import { addJobCommands, JobQueue } from '@tessera/background-work/jobs';
import {
  addMigrateCommand,
  createCommandLine,
  type InSession,
  migrationLog,
} from '@tessera/command-line';
import { migrate } from '@tessera/database-kit';
import { createLogger } from '@tessera/http-kit';
import { createVault, reseal } from '@tessera/vault';
import type { Command } from 'commander';
import type { Pool } from 'pg';
import { type Config, readConfig } from '../config.ts';
import { createDatabase, type Database, JOB_SCHEMA, migrations } from '../database.ts';
import { fileScanJob } from '../files/processing.ts';
import { checkFiles } from './check-files.ts';
import { addDeadLetterCommands } from './dead-letters.ts';
import { addDistributeCommand } from './distribution/commands.ts';
import { addPersonCommands } from './personal-data/commands.ts';
import { enqueueScans } from './scan-files.ts';
import { sealedColumns } from './sealed-columns.ts';
import { addTenantCommands } from './tenant-data/commands.ts';

/** What the commands use. */
interface Session {
  readonly config: Config;
  readonly database: Database;
  readonly pool: Pool;
}

const openLogger = () => createLogger('crm-admin', 'warn');

/** Migrates the database that the service's environment names, runs the work on it, and returns the result. */
const withSession: InSession<Session> = async (work, retry) => {
  const config = readConfig(process.env);
  await migrate(config.database.directUrl, migrations, migrationLog, retry);
  const database = createDatabase(
    { ...config.database, publishesEvents: config.kafkaBrokers.length > 0 },
    openLogger(),
  );
  try {
    return await work({ config, database, pool: database.pool });
  } finally {
    await database.close();
  }
};

/** Runs the work with a job queue that runs no jobs. */
const withQueue = async <T>(
  { config, pool }: Session,
  work: (queue: JobQueue) => Promise<T>,
): Promise<T> => {
  const queue = new JobQueue({
    pool,
    directUrl: config.database.directUrl,
    schema: JOB_SCHEMA,
    jobs: [fileScanJob],
    administersAll: true,
    logger: openLogger(),
    enqueueOnly: true,
  });
  await queue.start();
  try {
    return await work(queue);
  } finally {
    await queue.stop();
  }
};

/** The program `crm-admin`. `print` gets the output of its commands, which work in sessions. */
export const createProgram = (
  print: (text: string) => void,
  inSession: InSession<Session> = withSession,
): Command => {
  const { program, run } = createCommandLine<Session>({
    name: 'crm-admin',
    description: "Administers CRM's database. The configuration is the service's own environment.",
    help: '\nExit codes: 0 done, 1 refused or failed, 2 used wrongly.',
    inSession,
    print,
  });
  addMigrateCommand({ program, run });
  program
    .command('reseal')
    .description(
      'seal with the first of KEY_ENCRYPTION_KEYS what another one has sealed, so that the other can go',
    )
    .addHelpText(
      'after',
      [
        '\nFirst add the new key at the end of the list and restart every replica, then put it in front and',
        'restart them again: a replica that does not know the key cannot open what others seal with it.',
        'When a second run reports 0 for every table, remove the old key.',
        '\nExamples:\n  $ crm-admin reseal',
      ].join('\n'),
    )
    .action(() =>
      run(({ config, pool }) => reseal(pool, createVault(config.keyEncryptionKeys), sealedColumns)),
    );
  program
    .command('scan-files')
    .description('scan for malware the files that were stored while CLAMD_URL was not set')
    .option('--all', 'also scan the other files again, for example with new signatures', false)
    .addHelpText(
      'after',
      '\nThe scans run in the background; `jobs status` counts them.\n\nExamples:\n  $ crm-admin scan-files',
    )
    .action(({ all }: { all: boolean }) =>
      run((session) => {
        if (session.config.files.clamdUrl === undefined) throw new Error('CLAMD_URL is not set.');
        return withQueue(session, (queue) => enqueueScans(session.pool, queue, all));
      }),
    );
  program
    .command('check-files')
    .description(
      'compare the stored files with the database, and list files that are missing or damaged',
    )
    .addHelpText(
      'after',
      [
        '\nChanges nothing. The service itself makes the same comparison every six hours and deletes objects',
        'that no row refers to once they are a day old. A missing file is repaired by restoring its object',
        'from a backup, or by uploading the same file again.',
        '\nExamples:\n  $ crm-admin check-files',
      ].join('\n'),
    )
    .action(() => run(({ config, database }) => checkFiles(config, database)));
  addDistributeCommand(program, run);
  addTenantCommands(program, run);
  addPersonCommands(program, run);
  addDeadLetterCommands(program, (work) => run(({ config }) => work(config)));
  addJobCommands(program, (work) => run((session) => withQueue(session, work)));
  return program;
};
