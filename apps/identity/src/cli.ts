#!/usr/bin/env node
import { runCommandLine } from '@tessera/command-line';
import { createProgram } from './administration/commands/program.ts';
import { withSession } from './administration/session.ts';

await runCommandLine(createProgram(withSession, console.log));
