import { addMigrateCommand, createCommandLine, type InSession } from '@tessera/command-line';
import type { Command } from 'commander';
import type { Session } from '../session.ts';
import { addAccountCommands } from './accounts.ts';
import { addClientCommands } from './clients.ts';
import { addKeyCommands } from './keys.ts';
import { addMailCommands } from './mails.ts';
import { addPersonCommands } from './people.ts';
import { examples } from './run.ts';
import { addTenantCommands } from './tenants.ts';

/** Where commands read from and print to. */
export interface Streams {
  /** Standard input, which some commands read. */
  readonly input: NodeJS.ReadableStream;
  print(text: string): void;
}

/** `identity-admin`: its commands work in sessions and print the results. */
export const createProgram = (
  inSession: InSession<Session>,
  { input, print }: Streams,
): Command => {
  const { program, run } = createCommandLine<Session>({
    name: 'identity-admin',
    description:
      "Administers identity's database. The configuration is the service's own environment.",
    help: `${examples(
      'create-administrator ada@example.com --first-name Ada --last-name Lovelace',
      'rotate-secret pipeline --overlap 24h',
      'list-clients --json',
    )}

Generated secrets and passwords are shown once, by the command that creates them.
Exit codes: 0 done, 1 refused or failed, 2 used wrongly.`,
    inSession,
    print,
  });
  addMigrateCommand({ program, run });
  addAccountCommands(program, run, input);
  addClientCommands(program, run);
  addKeyCommands(program, run);
  addTenantCommands(program, run);
  addPersonCommands(program, run);
  addMailCommands(program, run);
  return program;
};
