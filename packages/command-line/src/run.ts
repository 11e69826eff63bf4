import { type Command, CommanderError } from 'commander';
import { isJson } from './program.ts';

const REFUSED = 1;
const USAGE_ERROR = 2;

/** What commander has printed, as far as it is one sentence. */
const misuse = ({ code, message }: CommanderError): string =>
  code === 'commander.help'
    ? 'a command is missing'
    : message.replace(/^error: /, '').replaceAll('\n', ' ');

/**
 * Runs the command that the process was started with. The exit code is 0 when it is done, 1 when it is
 * refused or fails, 2 when it is used wrongly.
 */
export const runCommandLine = async (program: Command): Promise<void> => {
  const tell = (message: string): void =>
    console.error(isJson(program) ? JSON.stringify({ error: message }) : message);
  try {
    await program.parseAsync();
  } catch (error) {
    if (error instanceof CommanderError) {
      const isHelp = error.exitCode === 0;
      // In words it was told before it was thrown.
      if (!isHelp && isJson(program)) tell(misuse(error));
      process.exitCode = isHelp ? 0 : USAGE_ERROR;
    } else {
      tell(error instanceof Error ? error.message : String(error));
      process.exitCode = REFUSED;
    }
  }
};
