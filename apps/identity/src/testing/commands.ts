import { Readable } from 'node:stream';
import { type InSession, runCommand } from '@tessera/command-line';
import { createVault } from '@tessera/vault';
import type { Command } from 'commander';
import { createProgram } from '../administration/commands/program.ts';
import { type Session, sessionsIn } from '../administration/session.ts';
import { Passwords } from '../passwords/passwords.ts';
import { highestStoredCost } from '../passwords/stored-cost.ts';
import { type AdminEnvironment, adminEnvironment, type Ended } from './admin.ts';
import type { TestIdentity } from './identity.ts';

/** Keeps the messages about incorrect usage out of the output of the tests. */
const silence = (program: Command): Command => {
  for (const one of [program, ...program.commands]) {
    one.configureOutput({ writeErr: () => undefined });
  }
  return program;
};

const programOf = (
  inSession: InSession<Session>,
  print: (text: string) => void,
  input = '',
): Command => silence(createProgram(inSession, { print, input: Readable.from([input]) }));

/** Runs commands of `identity-admin` in the process of the test; returns what they print. */
export const commandsOf =
  ({ context }: TestIdentity) =>
  // biome-ignore lint/suspicious/noExplicitAny: each command prints a shape of its own.
  async (...args: string[]): Promise<any> => {
    const { database, pool, config, mail } = context;
    const printed: string[] = [];
    const session = {
      database,
      pool,
      vault: createVault(config.keyEncryptionKeys),
      mail,
      passwords: new Passwords(config.passwords, highestStoredCost(database)),
      permissions: config.permissions,
      tenantRedirectUris: config.tenantRedirectUris,
      reservedSlugs: config.reservedSlugs,
      slugReservation: config.slugReservation,
    };
    const program = programOf(
      (work) => work(session),
      (text) => printed.push(text),
    );
    await program.parseAsync([...args, '--json'], { from: 'user' });
    return JSON.parse(printed.join(''));
  };

/**
 * Runs `identity-admin` in the process of the test, otherwise like `identityAdmin`, in a fifth of the CPU time. Messages of
 * commander about incorrect usage and its help are not in the result.
 */
export const commandIn = async (
  environment: AdminEnvironment,
  args: readonly string[],
  input = '',
): Promise<Ended> => {
  const out: string[] = [];
  const error: string[] = [];
  const program = programOf(
    sessionsIn(adminEnvironment(environment)),
    (text) => out.push(`${text}\n`),
    input,
  );
  const code = await runCommand(program, args, (text) => error.push(`${text}\n`));
  return { code, out: out.join(''), error: error.join('') };
};
