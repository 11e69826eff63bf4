import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { nodeArguments, testedFrom } from './application.ts';
import { until } from './until.ts';

export interface ServiceProcess {
  readonly child: ChildProcess;
  /** Its output so far. */
  logs(): string;
  /** The URL that it reports. */
  ready(): Promise<string>;
  /** Its exit code when it has ended. */
  readonly ended: Promise<number | null>;
}

/**
 * Starts the `main` of a service with exactly these environment variables, for tests of the process itself:
 * its output and exit. The caller stops it.
 */
export const spawnService = (
  name: 'identity' | 'crm',
  environment: Readonly<Record<string, string>>,
): ServiceProcess => {
  const child = spawn(process.execPath, nodeArguments(name, 'main', testedFrom), {
    env: { PATH: process.env.PATH, ...environment },
  });
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => output.push(text));
  }
  const ended = once(child, 'close').then(([code]) => code as number | null);
  const logs = (): string => output.join('');
  const address = (): string | undefined => /"url":"(http:[^"]+)"/.exec(logs())?.[1];
  return {
    child,
    logs,
    async ready() {
      await until(() => address() !== undefined || child.exitCode !== null);
      const url = address();
      if (url === undefined) throw new Error(`It did not start: ${logs()}`);
      return url;
    },
    ended,
  };
};
