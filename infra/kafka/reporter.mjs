/** Fails the run when a test was skipped, or when it was to be of all suites and one of them had none. */
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
    // Jest counts it and does not tell it.
    console.error(this.#error.message);
  }

  getLastError() {
    return this.#error;
  }
}
