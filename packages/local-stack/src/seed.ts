import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { nodeArguments, type RunFrom } from './application.ts';

/**
 * Passes a document to `identity-admin seed`, which also runs migrations. Secrets are passed through a pipe.
 */
export const seedIdentity = async (
  from: RunFrom,
  environment: Readonly<Record<string, string>>,
  document: object,
): Promise<void> => {
  const child = spawn(process.execPath, [...nodeArguments('identity', 'cli', from), 'seed'], {
    stdio: ['pipe', 'ignore', 'pipe'],
    env: { ...process.env, ...environment },
  });
  child.stdin.end(JSON.stringify(document));
  const [output, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  if (code !== 0) throw new Error(`identity-admin seed failed:\n${output}`);
};
