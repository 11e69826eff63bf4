import { pathToFileURL } from 'node:url';
import Runtime from 'jest-runtime';

/**
 * Allows imports between tests, which Jest rejects: services that a test has started work then, too, and a file may load
 * after the tests of another one.
 */
class AllowingImports extends Runtime {
  leaveTestCode() {}
}

/** Keeps the modules that a test file has loaded, except for the file itself and Jest's own, which hold its tests. */
class KeepingModules extends AllowingImports {
  begin(testPath) {
    this._testPath = testPath;
    this.esmLoader.testPath = testPath;
  }

  teardown() {
    this.restoreAllMocks();
    this.mockState.clear();
    this.registries.esModuleRegistry.delete(pathToFileURL(this._testPath).href);
    this.registries.moduleRegistry.delete(this._testPath);
    this.registries.internalModuleRegistry.clear();
    this.testMainModule.reset();
  }
}

const ofEnvironment = new WeakMap();

/**
 * Jest's runtime, which loads modules: one for each environment. Jest makes a runtime for each file, so this returns the
 * one that there is.
 */
export default function runtimeOf(config, environment, ...others) {
  if (!environment.isShared) return new AllowingImports(config, environment, ...others);
  let runtime = ofEnvironment.get(environment);
  if (!runtime) {
    runtime = new KeepingModules(config, environment, ...others);
    ofEnvironment.set(environment, runtime);
  }
  const [, , , , testPath] = others;
  runtime.begin(testPath);
  return runtime;
}
