#!/usr/bin/env node
import { CommanderError } from 'commander';
import { createProgram, isJson } from './administration/commands/program.ts';
import { withSession } from './administration/session.ts';

const REFUSED = 1;
const USAGE_ERROR = 2;

const program = createProgram(withSession, console.log);

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : USAGE_ERROR;
  } else {
    const message = error instanceof Error ? error.message : String(error);
    console.error(isJson(program) ? JSON.stringify({ error: message }) : message);
    process.exitCode = REFUSED;
  }
}
