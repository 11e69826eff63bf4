#!/usr/bin/env node
import { CommanderError } from 'commander';
import { createProgram, isJson } from './administration/commands/program.ts';
import { withSession } from './administration/session.ts';

const REFUSED = 1;
const USAGE_ERROR = 2;

const program = createProgram(withSession, console.log);

const tell = (message: string): void =>
  console.error(isJson(program) ? JSON.stringify({ error: message }) : message);

/** What commander has printed, as far as it is one sentence. */
const misuse = ({ code, message }: CommanderError): string =>
  code === 'commander.help'
    ? 'a command is missing'
    : message.replace(/^error: /, '').replaceAll('\n', ' ');

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
