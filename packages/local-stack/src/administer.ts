import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { nodeArguments } from './application.ts';
import { keyEncryptionKeys, type LocalSystem } from './credentials.ts';
import { localDatabases } from './local-databases.ts';
import { dataDirectory, mailDirectory } from './stack.ts';

interface Target {
  readonly environment: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** The environment of identity in the local system of a directory. */
const localTarget = async (directory: string): Promise<Target> => {
  const databases = await localDatabases(directory);
  const file = await readFile(path.join(directory, 'local.json'), 'utf8');
  const { identity_url } = JSON.parse(file) as LocalSystem;
  const environment = {
    APP_ENV: 'local',
    DATABASE_URL: databases.identity,
    ISSUER: identity_url,
    KEY_ENCRYPTION_KEYS: await keyEncryptionKeys(directory, 'keys.json'),
    MAIL_DIRECTORY: mailDirectory(directory),
  };
  return { environment, stop: databases.stop };
};

/**
 * Runs `identity-admin` from its sources on the database of the environment (`DATABASE_URL`), or else on the
 * local system in a directory, whether it is running or not. Returns the exit code.
 */
export const administer = async (
  args: readonly string[],
  directory = dataDirectory,
): Promise<number> => {
  const target: Target = process.env.DATABASE_URL
    ? { environment: {}, stop: async () => undefined }
    : await localTarget(directory);
  try {
    const program = spawn(
      process.execPath,
      [...nodeArguments('identity', 'cli', 'source'), ...args],
      {
        stdio: 'inherit',
        env: { ...process.env, ...target.environment },
      },
    );
    const [code] = await once(program, 'exit');
    return Number(code ?? 1);
  } finally {
    await target.stop();
  }
};
