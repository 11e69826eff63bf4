import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type KeptProcess, keepProcess } from './kept-process.ts';

export const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Whether the apps run from their sources (tests, development) or from the build. */
export type RunFrom = 'source' | 'build';

/** The arguments of Node that run a module of an app. */
export const nodeArguments = (app: string, module: string, from: RunFrom): string[] =>
  from === 'build'
    ? [path.join(root, 'apps', app, 'dist', `${module}.js`)]
    : [
        '--conditions=source',
        '--import',
        import.meta.resolve('tsx'),
        path.join(root, 'apps', app, 'src', `${module}.ts`),
      ];

export interface ApplicationOptions {
  readonly name: 'identity' | 'crm';
  readonly from: RunFrom;
  readonly environment: Readonly<Record<string, string>>;
  /** Where the app listens, once it does. */
  readonly url: string;
  /** The file that takes its log. */
  readonly log: string;
}

export interface Application {
  readonly url: string;
  readonly log: string;
  /** Starts it, and waits until it can do its work. Throws with the end of its log when it ends instead. */
  start(): Promise<void>;
  /** Ends it in order. */
  stop(): Promise<void>;
  /** Ends it as a crash would. */
  kill(): Promise<void>;
  /** Settles when the process that was started last has ended, whoever ended it. */
  ended(): Promise<void>;
}

const START_LIMIT_MS = 60_000;

/** Whether a service answers that it can do its work. */
export const isReady = async (url: string): Promise<boolean> => {
  try {
    return (await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(1000) })).ok;
  } catch {
    return false;
  }
};

/** One of the two services as a process of its own, that can be stopped, killed and started again. */
export const application = (options: ApplicationOptions): Application => {
  const { name, from, environment, url, log } = options;
  let running: KeptProcess | undefined;

  const launch = (): KeptProcess => {
    const output = openSync(log, 'a', 0o600);
    try {
      const args = nodeArguments(name, 'main', from);
      return keepProcess({
        command: process.execPath,
        args,
        signal: 'SIGTERM',
        environment,
        output,
      });
    } finally {
      closeSync(output);
    }
  };

  const untilReady = async (started: KeptProcess): Promise<void> => {
    let ended = false;
    void started.exited.then(() => {
      ended = true;
    });
    for (const deadline = Date.now() + START_LIMIT_MS; !(await isReady(url)); await delay(20)) {
      if (!ended && Date.now() < deadline) continue;
      await started.stop();
      const end = (await readFile(log, 'utf8')).trim().split('\n').slice(-5).join('\n');
      throw new Error(`${name} did not start; its log ends with:\n${end}`);
    }
  };

  return {
    url,
    log,
    async start() {
      running = launch();
      await untilReady(running);
    },
    stop: async () => running?.stop(),
    kill: async () => running?.kill(),
    ended: async () => void (await running?.exited),
  };
};
