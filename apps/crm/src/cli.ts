#!/usr/bin/env node
import { runCommandLine } from '@tessera/command-line';
import { createProgram } from './administration/program.ts';

await runCommandLine(createProgram(console.log));
