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
 * Runs the command line of the process. The exit code is 0 on success, 1 when the command fails or is
 * refused, and 2 when it is used incorrectly.
 */
export const runCommandLine = async (program: Command): Promise<void> => {
  const printError = (message: string): void =>
    console.error(isJson(program) ? JSON.stringify({ error: message }) : message);
  try {
    await program.parseAsync();
  } catch (error) {
    if (error instanceof CommanderError) {
      const isHelp = error.exitCode === 0;
      // As text, commander has already printed it.
      if (!isHelp && isJson(program)) printError(usageError(error));
      process.exitCode = isHelp ? 0 : USAGE_ERROR;
    } else {
      printError(error instanceof Error ? error.message : String(error));
      process.exitCode = FAILED;
    }
  }
};
