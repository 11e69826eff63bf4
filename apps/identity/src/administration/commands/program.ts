import { createCommandLine } from '@tessera/command-line';
import type { Command } from 'commander';
import type { Session } from '../session.ts';
import { addAccountCommands } from './accounts.ts';
import { addClientCommands } from './clients.ts';
import { addKeyCommands } from './keys.ts';
import { addPersonCommands } from './people.ts';
import { examples } from './run.ts';
import { addTenantCommands } from './tenants.ts';

/** Does some work in a session, and gives its result. */
type InSession = <T>(work: (session: Session) => Promise<T>) => Promise<T>;

/** `identity-admin`: its commands work in sessions and print what they give. */
export const createProgram = (inSession: InSession, print: (text: string) => void): Command => {
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
  addAccountCommands(program, run);
  addClientCommands(program, run);
  addKeyCommands(program, run);
  addTenantCommands(program, run);
  addPersonCommands(program, run);
  return program;
};
