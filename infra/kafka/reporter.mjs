/** Fails the run when a test was skipped, or when it was to be of all suites and one of them had none. */
export default class NothingLeftOut {
  #rootDir;
  #suites;
  #error;

  constructor({ rootDir, testPathPatterns }, { suites }) {
    this.#rootDir = rootDir;
    this.#suites = testPathPatterns.patterns.length > 0 ? [] : suites;
  }

  onRunComplete(_contexts, { numPendingTests, numTodoTests, testResults }) {
    const ran = testResults.map(({ testFilePath }) => testFilePath);
    const empty = this.#suites.filter(
      (suite) => !ran.some((path) => path.startsWith(`${this.#rootDir}/${suite}`)),
    );
    const problems = empty.map((suite) => `No test ran in ${suite}`);
    if (numPendingTests + numTodoTests > 0) problems.push('Tests were skipped');
    if (problems.length > 0) this.#error = new Error(problems.join('; '));
  }

  getLastError() {
    return this.#error;
  }
}
