import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './bootstrap.mjs';
import { RUN_AGAIN_AT_MOST, runTests } from './check-tests.mjs';

/** One file of Jest's report: a status for each of its tests. */
const file = (name, ...statuses) => ({
  name: join(root, name),
  startTime: 1000,
  endTime: 3500,
  status: statuses.length > 0 && !statuses.includes('failed') ? 'passed' : 'failed',
  assertionResults: statuses.map((status) => ({ status })),
});

const reportOf = (...testResults) => {
  const statuses = testResults.flatMap(({ assertionResults }) => assertionResults);
  const count = (wanted) => statuses.filter(({ status }) => status === wanted).length;
  return {
    testResults,
    numPassedTests: count('passed'),
    numFailedTests: count('failed'),
    numPendingTests: count('pending'),
    numTodoTests: 0,
    numTotalTests: statuses.length,
    numRuntimeErrorTestSuites: testResults.filter((one) => one.assertionResults.length === 0)
      .length,
    success: testResults.every(({ status }) => status === 'passed'),
  };
};

/** Runs a script whose runs end with these reports, and returns the result with the files of each run. */
const run = async (...reports) => {
  const runs = [];
  const result = await runTests('test', async (_, args) => {
    const report = reports[runs.length];
    runs.push(args.slice(args.indexOf('--runTestsByPath') + 1 || args.length));
    const output = args.find((arg) => arg.startsWith('--outputFile='));
    writeFileSync(output.slice('--outputFile='.length), JSON.stringify(report));
    return report.success;
  });
  return { ...result, runs };
};

test('Passed tests are counted, and nothing runs twice', async () => {
  const { totals, isRight, flaky, runs } = await run(
    reportOf(file('a', 'passed'), file('b', 'passed')),
  );
  expect({ totals, isRight, flaky }).toEqual({
    totals: { passed: 2, failed: 0, skipped: 0 },
    isRight: true,
    flaky: [],
  });
  expect(runs).toHaveLength(1);
});

test('The duration of each file is that of its first run', async () => {
  const first = reportOf(file('a', 'passed'), file('b', 'failed'));
  const again = { ...file('b', 'passed'), endTime: 1500 };
  const { durations } = await run(first, reportOf(again));
  expect(durations).toEqual([
    { file: 'a', duration: 2500 },
    { file: 'b', duration: 2500 },
  ]);
});

test('A file that fails once is named, and its second run counts', async () => {
  const first = reportOf(file('a', 'passed', 'failed', 'passed'), file('b', 'passed', 'pending'));
  const { totals, isRight, flaky, runs } = await run(
    first,
    reportOf(file('a', 'passed', 'passed', 'passed')),
  );
  expect(runs[1]).toEqual([join(root, 'a')]);
  expect({ totals, isRight, flaky }).toEqual({
    totals: { passed: 4, failed: 0, skipped: 1 },
    isRight: true,
    flaky: ['a'],
  });
});

test('A file that fails twice is a failure', async () => {
  const broken = reportOf(file('a', 'passed', 'failed'));
  expect(await run(broken, broken)).toMatchObject({
    totals: { passed: 1, failed: 1 },
    isRight: false,
    flaky: [],
  });
});

test('A file that cannot be run is a failure', async () => {
  const broken = reportOf(file('a'), file('b', 'passed'));
  expect(await run(broken, reportOf(file('a')))).toMatchObject({
    totals: { passed: 1, failed: 1 },
    isRight: false,
  });
});

test('Many failed files are not run again', async () => {
  const files = Array.from({ length: RUN_AGAIN_AT_MOST + 1 }, (_, at) => file(`f${at}`, 'failed'));
  const { totals, isRight, runs } = await run(reportOf(...files));
  expect({ totals, isRight }).toMatchObject({
    totals: { failed: RUN_AGAIN_AT_MOST + 1 },
    isRight: false,
  });
  expect(runs).toHaveLength(1);
});

test('A failed comparison of values with cycles is counted, and its file runs again', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'files-'));
  const text = `test('compares', () => {
  const value = {};
  value.own = value;
  expect([value]).toEqual([]);
});`;
  writeFileSync(join(directory, 'a.test.cjs'), text);
  writeFileSync(join(directory, 'jest.config.json'), '{ "testMatch": ["**/*.test.cjs"] }');
  const jest = [
    join(root, 'node_modules/jest/bin/jest.js'),
    `--config=${directory}/jest.config.json`,
  ];
  let runs = 0;
  const { totals, isRight } = await runTests('test', async (_, args) => {
    runs += 1;
    const options = args.slice(args.indexOf('--') + 1);
    return spawnSync(process.execPath, [...jest, ...options]).status === 0;
  });
  expect({ totals, isRight, runs }).toEqual({
    totals: { passed: 0, failed: 1, skipped: 0 },
    isRight: false,
    runs: 2,
  });
});
