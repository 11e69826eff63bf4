import { createVault } from '@tessera/vault';
import type { Command } from 'commander';
import { createProgram } from '../administration/commands/program.ts';
import { Passwords } from '../passwords/passwords.ts';
import type { TestIdentity } from './identity.ts';

/** What it has to say of a wrong use does not belong into the output of the tests. */
const silence = (program: Command): void => {
  for (const one of [program, ...program.commands]) {
    one.configureOutput({ writeErr: () => undefined });
  }
};

/** Runs commands of `identity-admin`, here and not in a process of their own; gives what they print. */
export const commandsOf =
  ({ context }: TestIdentity) =>
  // biome-ignore lint/suspicious/noExplicitAny: each command prints a shape of its own.
  async (...args: string[]): Promise<any> => {
    const { database, pool, config, mail } = context;
    const printed: string[] = [];
    const vault = createVault(config.keyEncryptionKeys);
    const session = {
      database,
      pool,
      vault,
      mail,
      passwords: new Passwords(config.passwords),
      tenantRedirectUris: config.tenantRedirectUris,
      reservedSlugs: config.reservedSlugs,
    };
    const program = createProgram(
      (work) => work(session),
      (text) => printed.push(text),
    );
    silence(program);
    await program.parseAsync([...args, '--json'], { from: 'user' });
    return JSON.parse(printed.join(''));
  };
