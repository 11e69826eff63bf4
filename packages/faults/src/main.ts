import { readFile, writeFile } from 'node:fs/promises';
import { readOptions, usage } from './options.ts';
import { isRight, table, withResults } from './report.ts';
import { type Result, runScenario } from './run.ts';
import { canary, scenarios } from './scenarios/index.ts';
import { startSystem } from './system.ts';

const LISTED = 10;

const main = async (): Promise<void> => {
  const options = readOptions(process.argv.slice(2), scenarios);
  const system = await startSystem({
    withFileStore: options.scenarios.some((scenario) => scenario.needsFileStore),
    onStep: (step) => console.error(`${step} ...`),
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void system.stop().finally(() => process.exit(1)));
  }
  const results: Result[] = [];
  try {
    for (const scenario of options.scenarios) {
      console.error(`${scenario.name} ...`);
      const result = await runScenario(system, scenario, options.secondsOf(scenario));
      results.push(result);
      console.error(table([result]));
      for (const problem of result.wrong.slice(0, LISTED)) console.error(`WRONG: ${problem}`);
    }
    if (options.smoke && isRight(await runScenario(system, canary, canary.seconds))) {
      throw new Error('Wrong answers were not noticed.');
    }
  } finally {
    await system.stop();
  }
  console.log(table(results));
  if (options.write !== undefined) {
    await writeFile(options.write, withResults(await readFile(options.write, 'utf8'), results));
  }
  const failed = results.filter((result) => !isRight(result));
  for (const { title } of failed) console.error(`FAILED: ${title}`);
  if (failed.length > 0) process.exitCode = 1;
};

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? (error.stack ?? error.message) : error);
  console.error(usage);
  process.exitCode = 1;
}
// The system has stopped. A connection that a fault left half open must not keep this process.
process.exit();
