// Runs Jest for `npm run check`.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { root } from './bootstrap.mjs';

/** More failed files than this are not a coincidence, and are not run again. */
export const RUN_AGAIN_AT_MOST = 3;

/** The paths of the files that failed. */
export const failedFiles = ({ testResults }) =>
  testResults.filter(({ status }) => status === 'failed').map(({ name }) => name);

/** How long each file took, in milliseconds. */
export const durationsOf = ({ testResults }) =>
  testResults.map(({ name, startTime, endTime }) => ({
    file: relative(root, name),
    duration: endTime - startTime,
  }));

const passedIn = ({ assertionResults }) =>
  assertionResults.filter(({ status }) => status === 'passed').length;

/**
 * What counts of Jest's result: `passed` and `failed` tests, and those that were `skipped`. A file that could not be
 * run counts as a failed test. `again` is the result of a second run of the failed files, which replaces their first.
 */
export const totalsOf = (result, again) => {
  const own = {
    passed: result.numPassedTests,
    failed: result.numFailedTests + result.numRuntimeErrorTestSuites,
    skipped: result.numPendingTests + result.numTodoTests,
  };
  if (!again) return own;
  const replaced = result.testResults.filter(({ status }) => status === 'failed').map(passedIn);
  const second = totalsOf(again);
  return {
    passed: own.passed - replaced.reduce((sum, passed) => sum + passed, 0) + second.passed,
    failed: second.failed,
    skipped: own.skipped,
  };
};

/**
 * Runs a script of package.json that runs Jest, with further arguments, by `execute(command, args)`, which resolves
 * to whether it succeeded. Up to three failed files are run a second time, by themselves. Returns the totals, whether
 * everything `passed`, the files that are `flaky`: they failed first and passed the second time, and the `durations`
 * of all files in the first run.
 */
export const runTests = async (script, execute) => {
  const once = async (...args) => {
    const directory = mkdtempSync(join(tmpdir(), 'tessera-check-'));
    const report = join(directory, 'jest.json');
    const command = script === 'test' ? ['test'] : ['run', script];
    const ended = await execute('npm', [
      ...command,
      '--',
      '--reporters=default',
      `--reporters=${join(root, 'scripts/plain-results.mjs')}`,
      '--json',
      `--outputFile=${report}`,
      ...args,
    ]);
    // The script has printed what is missing.
    if (!existsSync(report)) throw new Error(`${script} did not run any tests.`);
    const result = JSON.parse(readFileSync(report, 'utf8'));
    rmSync(directory, { recursive: true });
    return { result, isRight: ended && result.success };
  };

  const first = await once();
  if (first.result.numTotalTests === 0) throw new Error('No test ran.');
  const durations = durationsOf(first.result);
  const files = failedFiles(first.result);
  if (first.isRight || files.length === 0 || files.length > RUN_AGAIN_AT_MOST) {
    return { totals: totalsOf(first.result), isRight: first.isRight, flaky: [], durations };
  }
  console.log(`\nRunning again: ${files.map((file) => relative(root, file)).join(', ')}`);
  const again = await once('--runTestsByPath', ...files);
  const stillFailed = failedFiles(again.result);
  const flaky = files.filter((file) => !stillFailed.includes(file));
  return {
    totals: totalsOf(first.result, again.result),
    isRight: again.isRight,
    flaky: flaky.map((file) => relative(root, file)),
    durations,
  };
};
