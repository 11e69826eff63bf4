import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { nodeArguments, testedFrom } from '@tessera/local-stack';

export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

/** A key that seals, as `KEY_ENCRYPTION_KEYS` takes it. */
export const encryptionKey = (id: string, byte = 0): string =>
  `${id}:${Buffer.alloc(32, byte).toString('base64')}`;

/** Settings of `identity-admin`. */
export type AdminEnvironment = Readonly<Record<string, string>> & { readonly DATABASE_URL: string };

/** The environment of `identity-admin` in a test. */
export const adminEnvironment = (environment: AdminEnvironment): NodeJS.ProcessEnv => ({
  ...process.env,
  ISSUER: 'http://127.0.0.1:4000',
  BCRYPT_COST: '4',
  KEY_ENCRYPTION_KEYS: encryptionKey('test'),
  ...environment,
});

/** Runs `identity-admin` as a process on the database that the environment names. */
export const identityAdmin = async (
  environment: AdminEnvironment,
  args: readonly string[],
  input = '',
): Promise<Ended> => {
  const child = spawn(
    process.execPath,
    [...nodeArguments('identity', 'cli', testedFrom), ...args],
    { env: adminEnvironment(environment) },
  );
  child.stdin.end(input);
  const [out, error, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  return { code, out, error };
};
