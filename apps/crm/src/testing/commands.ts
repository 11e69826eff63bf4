import { createProgram } from '../administration/program.ts';
import type { TestCrm } from './crm.ts';

/** Runs commands of `crm-admin`, here and not in a process of their own; returns what they print. */
export const commandsOf =
  ({ context }: TestCrm) =>
  // biome-ignore lint/suspicious/noExplicitAny: each command prints a shape of its own.
  async (...args: string[]): Promise<any> => {
    const { config, database } = context;
    const printed: string[] = [];
    const program = createProgram(
      (text) => printed.push(text),
      (work) => work({ config, database, pool: database.pool }),
    );
    await program.parseAsync([...args, '--json'], { from: 'user' });
    return JSON.parse(printed.join(''));
  };
