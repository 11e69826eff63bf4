import { chmodSync, mkdirSync, mkdtempSync, symlinkSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { TestEnvironment } from 'jest-environment-node';

/** The files of a warning's stack that lie in pg itself. */
const isFromPg = ({ name, stack }) =>
  name === 'DeprecationWarning' && /[\\/]pg[\\/]lib[\\/]/.test(stack ?? '');

const restore = (name, value) => {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
};

/** Where tsx, which runs programs from their sources, keeps what it has compiled: in a folder of the temporary one. */
const compiled = `tsx-${process.geteuid?.() ?? userInfo().username}`;
const compiledForAll = fileURLToPath(new URL('node_modules/.cache/tsx', import.meta.url));

/** Creates a folder for the temporary files of one test file, and makes it that of this process and its children. */
const createTemporaryFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'tessera-test-'));
  // Servers that refuse to run as root use folders in it under an account of their own.
  chmodSync(folder, 0o711);
  // Otherwise the first program of each file would compile its sources again.
  mkdirSync(compiledForAll, { recursive: true });
  symlinkSync(compiledForAll, join(folder, compiled), 'junction');
  process.env.TMPDIR = folder;
  return folder;
};

/** Global symbols in which Jest keeps the tests of a file and its settings, such as `jest.setTimeout`. */
const STATE_OF_JEST = new Set([
  'JEST_STATE_SYMBOL',
  'EVENT_HANDLERS',
  'TEST_TIMEOUT_SYMBOL',
  'RETRY_TIMES',
  'RETRY_TIMES_SETTER',
  'RETRY_IMMEDIATELY',
  'WAIT_BEFORE_RETRY',
  'LOG_ERRORS_BEFORE_RETRY',
]);

/**
 * Node's environment, in which a test file fails where pg warned that it was used in a way that its next
 * version refuses. `--no-warnings` keeps such warnings from the terminal, and so from everybody's eyes.
 * What a file, or a process that it killed, left in the temporary directory is removed when the file ends.
 * A file runs in another time zone with `@jest-environment-options {"timeZone": "Europe/Budapest"}` in its
 * first comment: a test itself has only a copy of the environment.
 */
class Environment extends TestEnvironment {
  #warnings = [];
  #note = (warning) => {
    if (isFromPg(warning)) this.#warnings.push(warning.stack);
  };

  #exit;
  #timeZone;
  #zoneBefore = process.env.TZ;
  #folderBefore = process.env.TMPDIR;
  #folder;

  constructor(config, context, isShared) {
    super(config, context);
    /** Whether the files after this one run in it, too; jest.runtime.mjs asks. */
    this.isShared = isShared;
    this.#exit = this.global.process.exit;
  }

  begin(timeZone) {
    this.#timeZone = timeZone;
    this.#warnings = [];
  }

  async setup() {
    this.#folder = createTemporaryFolder();
    if (this.#timeZone) process.env.TZ = this.#timeZone;
    // A test has a copy of the environment, which the test before may have changed.
    const { env } = this.global.process;
    for (const name of Object.keys(env)) delete env[name];
    Object.assign(env, process.env);
    process.on('warning', this.#note);
    await super.setup();
  }

  async teardown() {
    // A warning is given when the promises are done that are under way.
    await new Promise(setImmediate);
    if (this.isShared) this.#forgetFile();
    else await super.teardown();
    process.off('warning', this.#note);
    restore('TZ', this.#zoneBefore);
    restore('TMPDIR', this.#folderBefore);
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 3 });
    if (this.#warnings.length > 0) throw new Error(this.#warnings.join('\n'));
  }

  #forgetFile() {
    this.fakeTimers.useRealTimers();
    this.fakeTimersModern.useRealTimers();
    // Jest wraps it for each file.
    this.global.process.exit = this.#exit;
    for (const symbol of Object.getOwnPropertySymbols(this.global)) {
      if (STATE_OF_JEST.has(symbol.description)) delete this.global[symbol];
    }
  }
}

let shared;

/**
 * The environment of a test file. All files that a process runs share one, and with it the modules that they import:
 * to load those of a service takes longer than most of its tests. When files are watched, modules may change between
 * two runs, and each file has an environment of its own.
 */
export default function environmentOf(config, context) {
  const { watch, watchAll } = config.globalConfig;
  const isShared = !(watch || watchAll);
  const environment = (isShared && shared) || new Environment(config, context, isShared);
  if (isShared) shared = environment;
  environment.begin(config.projectConfig.testEnvironmentOptions.timeZone);
  return environment;
}
