import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type SupervisedProcess, superviseProcess } from './supervised-process.ts';

export const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Whether the apps run from their sources (tests, development) or, as images do, from the bundle of their build. */
export type RunFrom = 'source' | 'bundle';

/**
 * From what `testedProgram`, `spawnService` and the test stacks run programs: the sources or, with
 * `TEST_PROGRAMS=bundle`, the bundles of the apps and the build of packages. From these, each process starts in a fraction
 * of the CPU time. CI compiles and bundles before the tests.
 */
export const testedFrom: RunFrom = process.env.TEST_PROGRAMS === 'bundle' ? 'bundle' : 'source';

/** The arguments of Node that run a program of a folder with `src` and `dist`, which is named without its extension. */
const argumentsOf = (folder: string, program: string, from: RunFrom): string[] => {
  if (from === 'source') {
    const file = path.join(folder, 'src', `${program}.ts`);
    return ['--conditions=source', '--import', import.meta.resolve('tsx'), file];
  }
  const isApp = path.basename(path.dirname(folder)) === 'apps';
  const name = isApp ? path.join('bundle', path.basename(program)) : program;
  return [path.join(folder, 'dist', `${name}.js`)];
};

/** As the images and the systemd units start a service: see docs/operations.md#memory. */
const MEMORY_FLAGS = {
  identity: ['--max-semi-space-size=8', '--heap-growing-percent=50'],
  crm: ['--max-semi-space-size=8'],
};
const MEMORY_VARIABLES = { MALLOC_ARENA_MAX: '2' };

/** The arguments of Node that run a module of an app. */
export const nodeArguments = (
  app: string,
  module: string,
  from: RunFrom,
  checkout = root,
): string[] => argumentsOf(path.join(checkout, 'apps', app), module, from);

/** The arguments of Node with which a test runs a program, such as `apps/crm/src/testing/killed-files`. */
export const testedProgram = (name: string): string[] => {
  const [folder = '', program = ''] = name.split('/src/');
  return argumentsOf(path.join(root, folder), program, testedFrom);
};

export interface ApplicationOptions {
  readonly name: 'identity' | 'crm';
  readonly from: RunFrom;
  /** The folder of the release that runs. Default: this one. */
  readonly checkout?: string | undefined;
  readonly environment: Readonly<Record<string, string>>;
  /** URL of the app, once it listens. */
  readonly url: string;
  /** Path of its log file. */
  readonly log: string;
}

export interface Application {
  readonly url: string;
  readonly log: string;
  /**
   * Starts it and waits until it is ready. If it exits instead, throws an error with the end of its log.
   */
  start(): Promise<void>;
  /** Stops it gracefully. */
  stop(): Promise<void>;
  /** Kills it. */
  kill(): Promise<void>;
  /** Sends a signal to its process. */
  signal(name: NodeJS.Signals): void;
  /** Settles when the most recently started process has ended for any reason. */
  ended(): Promise<void>;
}

const START_LIMIT_MS = 60_000;
const READY_LIMIT_MS = 1000;

/** Whether a service reports within this time, in milliseconds, that it is ready. */
export const isReady = async (url: string, limitMs = READY_LIMIT_MS): Promise<boolean> => {
  try {
    return (await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(limitMs) })).ok;
  } catch {
    return false;
  }
};

/** A service as a separate process that can be stopped, killed and restarted. */
export const application = (options: ApplicationOptions): Application => {
  const { name, from, checkout, environment, url, log } = options;
  let running: SupervisedProcess | undefined;

  const launch = (): SupervisedProcess => {
    const output = openSync(log, 'a', 0o600);
    try {
      const args = nodeArguments(name, 'main', from, checkout);
      const isBundle = from === 'bundle';
      return superviseProcess({
        command: process.execPath,
        args: isBundle ? [...MEMORY_FLAGS[name], ...args] : args,
        signal: 'SIGTERM',
        environment: { ...(isBundle && MEMORY_VARIABLES), ...environment },
        output,
      });
    } finally {
      closeSync(output);
    }
  };

  const untilReady = async (started: SupervisedProcess): Promise<void> => {
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
    signal: (name) => running?.signal(name),
    ended: async () => void (await running?.exited),
  };
};
