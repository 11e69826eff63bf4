import { Command } from 'commander';
import { readable } from '../output.ts';
import type { Session } from '../session.ts';
import { addAccountCommands } from './accounts.ts';
import { addClientCommands } from './clients.ts';
import { addKeyCommands } from './keys.ts';
import { examples, type Run } from './run.ts';

/** Does some work in a session, and gives its result. */
type InSession = <T>(work: (session: Session) => Promise<T>) => Promise<T>;

/**
 * `identity-admin`: its commands work in sessions and print what they give. A wrong use rejects with a
 * `CommanderError`, everything that is refused with a plain error whose message says why.
 */
export const createProgram = (inSession: InSession, print: (text: string) => void): Command => {
  const program = new Command('identity-admin')
    .description(
      "Administers identity's database. The configuration is the service's own environment.",
    )
    .option('--json', 'print the result, or why there is none, as JSON')
    .showHelpAfterError('(identity-admin <command> --help tells what it takes)')
    .addHelpText(
      'after',
      `${examples(
        'create-administrator ada@example.com --first-name Ada --last-name Lovelace',
        'rotate-secret pipeline --overlap 24h',
        'list-clients --json',
      )}

Secrets and passwords that are made up are shown once, by the command that makes them.
Exit codes: 0 done, 1 refused or failed, 2 used wrongly.`,
    )
    .configureOutput({
      // Whoever reads JSON gets the one object that tells why there is no result.
      writeErr: (text) => isJson(program) || process.stderr.write(text),
    })
    .exitOverride();
  const run: Run = async (work) => {
    const result = await inSession(work);
    print(isJson(program) ? JSON.stringify(result) : readable(result));
  };
  addAccountCommands(program, run);
  addClientCommands(program, run);
  addKeyCommands(program, run);
  return program;
};

/** Whether JSON was asked for. */
export const isJson = (program: Command): boolean => program.opts<{ json?: true }>().json ?? false;
