// A reporter of Jest that removes the details of failures from its results: `--json` cannot write those with cycles, such as
// of a comparison of responses, and no test of the run would be counted.
export default class PlainResults {
  onRunComplete(_contexts, { testResults }) {
    for (const file of testResults) {
      for (const test of file.testResults) test.failureDetails = [];
    }
  }
}
