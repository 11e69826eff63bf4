#!/usr/bin/env node
import { runCommandLine } from '@tessera/command-line';
import { createProgram } from './administration/commands/program.ts';
import { sessionsIn } from './administration/session.ts';

await runCommandLine(
  createProgram(sessionsIn(process.env), { print: console.log, input: process.stdin }),
);
