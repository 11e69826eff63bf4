/** Fails the run if a test was skipped, or if a full run executed no tests of a suite. */
export default class NothingLeftOut {
  #suites;
  #error;

  constructor({ testPathPatterns }, { suites }) {
    this.#suites = testPathPatterns.patterns.length > 0 ? [] : suites;
  }

  onRunComplete(_contexts, { numPendingTests, numTodoTests, testResults }) {
    const ran = testResults.map(({ testFilePath }) => testFilePath);
    const problems = this.#suites
      .filter((suite) => !ran.some((path) => new RegExp(suite).test(path)))
      .map((suite) => `No test ran in ${suite}`);
    if (numPendingTests + numTodoTests > 0) problems.push('Tests were skipped');
    if (problems.length === 0) return;
    this.#error = new Error(problems.join('; '));
    // Jest counts the error but does not print it.
    console.error(this.#error.message);
  }

  getLastError() {
    return this.#error;
  }
}
