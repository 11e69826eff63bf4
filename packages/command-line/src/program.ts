import { Command } from 'commander';
import { help } from './help.ts';
import { readable } from './readable.ts';

/**
 * Opens a session, does the work in it, and returns the result. A session migrates the database first; `retry` names a
 * migration that failed and that runs again.
 */
export type InSession<Session> = <T>(
  work: (session: Session) => Promise<T>,
  retry?: string,
) => Promise<T>;

export interface CommandLineOptions<Session> {
  /** The name of the executable, such as `identity-admin`. */
  readonly name: string;
  readonly description: string;
  /** Printed below the list of commands. */
  readonly help: string;
  readonly inSession: InSession<Session>;
  print(text: string): void;
}

export interface CommandLine<Session> {
  readonly program: Command;
  /** Runs the work of a command and prints its result: as text, or as JSON with `--json`. */
  run(work: (session: Session) => Promise<object>, retry?: string): Promise<void>;
}

/** Whether the program was started with `--json`. */
export const isJson = (program: Command): boolean => program.opts<{ json?: true }>().json ?? false;

/**
 * Creates an administration program, to which the caller adds commands. Parsing rejects with a
 * `CommanderError` when the program is used incorrectly, otherwise with the error of the command.
 */
export const createCommandLine = <Session>({
  name,
  description,
  help: helpText,
  inSession,
  print,
}: CommandLineOptions<Session>): CommandLine<Session> => {
  const program = new Command(name)
    .description(description)
    .option('--json', 'print the result or the error as JSON')
    .showHelpAfterError(`(${name} <command> --help shows its options)`)
    .addHelpText('after', helpText)
    .configureHelp(help)
    .configureOutput({
      // With --json, the error is printed once, as an object.
      writeErr: (text) => isJson(program) || process.stderr.write(text),
    })
    .exitOverride();
  return {
    program,
    async run(work, retry) {
      const result = await inSession(work, retry);
      print(isJson(program) ? JSON.stringify(result) : readable(result));
    },
  };
};
