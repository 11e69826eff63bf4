import { chmodSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestEnvironment } from 'jest-environment-node';

/** The files of a warning's stack that lie in pg itself. */
const isFromPg = ({ name, stack }) =>
  name === 'DeprecationWarning' && /[\\/]pg[\\/]lib[\\/]/.test(stack ?? '');

const restore = (name, value) => {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
};

/** Creates a folder for the temporary files of one test file, and makes it that of this process and its children. */
const createTemporaryFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'tessera-test-'));
  // Servers that refuse to run as root use folders in it under an account of their own.
  chmodSync(folder, 0o711);
  process.env.TMPDIR = folder;
  return folder;
};

/**
 * Node's environment, in which a test file fails where pg warned that it was used in a way that its next
 * version refuses. `--no-warnings` keeps such warnings from the terminal, and so from everybody's eyes.
 * Whatever a file leaves in the temporary directory, and the processes that it kills, is removed when it ends.
 * A file runs in another time zone with `@jest-environment-options {"timeZone": "Europe/Budapest"}` in its
 * first comment: a test itself has only a copy of the environment.
 */
export default class Environment extends TestEnvironment {
  #warnings = [];
  #note = (warning) => {
    if (isFromPg(warning)) this.#warnings.push(warning.stack);
  };

  #timeZone;
  #zoneBefore = process.env.TZ;

  #folderBefore;
  #folder;

  constructor(config, context) {
    const before = process.env.TMPDIR;
    // A test has a copy of the environment, which is made here.
    const folder = createTemporaryFolder();
    super(config, context);
    this.#folderBefore = before;
    this.#folder = folder;
    this.#timeZone = config.projectConfig.testEnvironmentOptions.timeZone;
  }

  async setup() {
    if (this.#timeZone) process.env.TZ = this.#timeZone;
    process.on('warning', this.#note);
    await super.setup();
  }

  async teardown() {
    // A warning is given when the promises are done that are under way.
    await new Promise(setImmediate);
    await super.teardown();
    process.off('warning', this.#note);
    if (this.#timeZone) restore('TZ', this.#zoneBefore);
    restore('TMPDIR', this.#folderBefore);
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 3 });
    if (this.#warnings.length > 0) throw new Error(this.#warnings.join('\n'));
  }
}
