import { TestEnvironment } from 'jest-environment-node';

/** The files of a warning's stack that lie in pg itself. */
const isFromPg = ({ name, stack }) =>
  name === 'DeprecationWarning' && /[\\/]pg[\\/]lib[\\/]/.test(stack ?? '');

const restoreZone = (zone) => {
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
};

/**
 * Node's environment, in which a test file fails where pg warned that it was used in a way that its next
 * version refuses. `--no-warnings` keeps such warnings from the terminal, and so from everybody's eyes.
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

  constructor(config, context) {
    super(config, context);
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
    if (this.#timeZone) restoreZone(this.#zoneBefore);
    if (this.#warnings.length > 0) throw new Error(this.#warnings.join('\n'));
  }
}
