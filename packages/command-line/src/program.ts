import { Command } from 'commander';
import { readable } from './readable.ts';

export interface CommandLineOptions<Session> {
  /** What people type: `identity-admin`. */
  readonly name: string;
  readonly description: string;
  /** Printed below the list of commands. */
  readonly help: string;
  /** Does some work in a session, and gives its result. */
  inSession<T>(work: (session: Session) => Promise<T>): Promise<T>;
  print(text: string): void;
}

export interface CommandLine<Session> {
  readonly program: Command;
  /** Runs what a command does, and prints what it gives: for people, or as JSON where that is asked for. */
  run(work: (session: Session) => Promise<object>): Promise<void>;
}

/** Whether JSON was asked for. */
export const isJson = (program: Command): boolean => program.opts<{ json?: true }>().json ?? false;

/**
 * A program for administrators, to which its commands are added. A wrong use rejects with a
 * `CommanderError`, everything that is refused with a plain error whose message says why.
 */
export const createCommandLine = <Session>({
  name,
  description,
  help,
  inSession,
  print,
}: CommandLineOptions<Session>): CommandLine<Session> => {
  const program = new Command(name)
    .description(description)
    .option('--json', 'print the result, or why there is none, as JSON')
    .showHelpAfterError(`(${name} <command> --help tells what it takes)`)
    .addHelpText('after', help)
    .configureOutput({
      // Whoever reads JSON gets the one object that tells why there is no result.
      writeErr: (text) => isJson(program) || process.stderr.write(text),
    })
    .exitOverride();
  return {
    program,
    async run(work) {
      const result = await inSession(work);
      print(isJson(program) ? JSON.stringify(result) : readable(result));
    },
  };
};
