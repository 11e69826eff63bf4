import { type Command, CommanderError } from 'commander';
import { isJson } from './program.ts';

const FAILED = 1;
const USAGE_ERROR = 2;

/** Commander's message as one sentence. */
const usageError = ({ code, message }: CommanderError): string =>
  code === 'commander.help'
    ? 'a command is missing'
    : message.replace(/^error: /, '').replaceAll('\n', ' ');

/**
 * Runs a command. Resolves to the exit code: 0 on success, 1 when the command fails or is refused, and 2 when it is used
 * incorrectly. `args` are the arguments without the names of Node and of the program.
 */
export const runCommand = async (
  program: Command,
  args: readonly string[],
  printError: (text: string) => void,
): Promise<number> => {
  const report = (message: string): void =>
    printError(isJson(program) ? JSON.stringify({ error: message }) : message);
  try {
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) {
      const isHelp = error.exitCode === 0;
      // As text, commander has already printed it.
      if (!isHelp && isJson(program)) report(usageError(error));
      return isHelp ? 0 : USAGE_ERROR;
    }
    report(error instanceof Error ? error.message : String(error));
    return FAILED;
  }
};

/** Runs the command line of the process, and sets its exit code as `runCommand` does. */
export const runCommandLine = async (program: Command): Promise<void> => {
  process.exitCode = await runCommand(program, process.argv.slice(2), console.error);
};
