import { createCommandLine } from '@tessera/command-line';
import { migrate } from '@tessera/database-kit';
import { createLogger } from '@tessera/http-kit';
import { createVault, reseal, type Vault } from '@tessera/vault';
import type { Command } from 'commander';
import type { Pool } from 'pg';
import { readConfig } from '../config.ts';
import { createDatabase, migrations } from '../database.ts';
import { sealedColumns } from './sealed-columns.ts';

/** What the commands use. */
interface Session {
  readonly pool: Pool;
  readonly vault: Vault;
}

/** Migrates the database that the service's environment names, runs the work on it, and returns the result. */
const withSession = async <T>(work: (session: Session) => Promise<T>): Promise<T> => {
  const config = readConfig(process.env);
  const vault = createVault(config.keyEncryptionKeys);
  await migrate(config.database.directUrl, migrations);
  const database = createDatabase(config.database, createLogger('crm-admin', 'warn'));
  try {
    return await work({ pool: database.pool, vault });
  } finally {
    await database.close();
  }
};

/** The program `crm-admin`. `print` gets the output of its commands. */
export const createProgram = (print: (text: string) => void): Command => {
  const { program, run } = createCommandLine<Session>({
    name: 'crm-admin',
    description: "Administers CRM's database. The configuration is the service's own environment.",
    help: '\nExit codes: 0 done, 1 refused or failed, 2 used wrongly.',
    inSession: withSession,
    print,
  });
  program
    .command('reseal')
    .description(
      'seal with the first of KEY_ENCRYPTION_KEYS what another one has sealed, so that the other can go',
    )
    .addHelpText(
      'after',
      [
        '\nPut the new key in front of the list and restart every replica first: a replica that does not',
        'know the key cannot open what is resealed. When a second run reports 0 for every table, remove',
        'the old key.',
        '\nExamples:\n  $ crm-admin reseal',
      ].join('\n'),
    )
    .action(() => run(({ pool, vault }) => reseal(pool, vault, sealedColumns)));
  return program;
};
