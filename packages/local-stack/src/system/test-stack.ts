import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { testedFrom } from '../application.ts';
import { throwawaySettings } from '../postgres.ts';
import { type Stack, type StackOptions, startStack } from '../stack.ts';

/** The whole system in its own folder. */
export interface TestStack extends Stack {
  readonly directory: string;
  /** Stops it and removes its folder. */
  remove(): Promise<void>;
}

const withoutLimits = {
  // A busy machine may pause a process for longer than the default.
  IDENTITY_TIMEOUT_MS: '20000',
  RATE_LIMIT_LOGIN: '1000',
  RATE_LIMIT_DEFAULT: '100000',
  RATE_LIMIT_ADDRESS: '100000',
};

/** Starts the system in a new folder, or in that of a stopped stack. */
export const startTestStack = async ({
  environment,
  ...options
}: Omit<Partial<StackOptions>, 'from'> = {}): Promise<TestStack> => {
  const directory = options.directory ?? (await mkdtemp(path.join(tmpdir(), 'tessera-system-')));
  const removeData = () => rm(directory, { recursive: true });
  const stack = await startStack({
    ...options,
    directory,
    from: testedFrom,
    postgresSettings: throwawaySettings,
    environment: { ...withoutLimits, ...environment },
  }).catch(async (error) => {
    await removeData();
    throw error;
  });
  return {
    ...stack,
    directory,
    async remove() {
      await stack.stop();
      await removeData();
    },
  };
};
