import { readFile, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { areNoises, measureNoises } from './noisy/index.ts';
import { type Options, readOptions, usage } from './options.ts';
import { startProgram } from './program.ts';
import { markdownTable, table, withMeasured } from './report.ts';
import { openScaleBench } from './scale/bench.ts';
import { type SeededTenants, seedTenants } from './scale/data.ts';
import type { Bench, Result, Scenario } from './scenario.ts';
import { chosen, chosenAtScale } from './scenarios/index.ts';
import { type Prepare, startSystem } from './system.ts';

/** The machine and Node release of the measurement. */
const machine = (): string => {
  const [first] = cpus();
  return `${cpus().length} × ${first?.model.trim() ?? 'unknown CPU'}, Node ${process.versions.node}`;
};

const runAll = async <B extends Bench>(
  scenarios: readonly Scenario<B>[],
  bench: B,
): Promise<readonly Result[]> => {
  const results: Result[] = [];
  for (const { name, run: measure } of scenarios) {
    console.error(`${name} ...`);
    try {
      const measured = await measure(bench);
      if (!bench.options.smoke) console.error(table(measured));
      results.push(...measured);
    } catch (error) {
      throw new Error(`The scenario "${name}" failed: ${(error as Error).message}`, {
        cause: error,
      });
    }
  }
  return results;
};

/** Runs `work` on a system, and ends the system after it and after an interruption. */
const withSystem = async <T>(
  options: Options,
  prepare: Prepare | undefined,
  work: (bench: Bench) => Promise<T>,
): Promise<T> => {
  const system = await startSystem(options, prepare);
  const load = startProgram('load/generator');
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void system.stop().finally(() => process.exit(1)));
  }
  try {
    return await work({ options, system, load });
  } finally {
    await load.stop();
    await system.stop();
  }
};

const runAtScale = async (options: Options): Promise<readonly Result[]> => {
  const scenarios = chosenAtScale(options.only);
  let tenants: SeededTenants | undefined;
  const prepare: Prepare = async (stack, directory) => {
    tenants = await seedTenants(stack, directory, options);
  };
  return withSystem(options, prepare, async (bench) => {
    if (!tenants) throw new Error('No tenants have been seeded.');
    const { scaleBench, end } = await openScaleBench(bench, tenants);
    return runAll(scenarios, scaleBench).finally(end);
  });
};

const run = async (options: Options): Promise<readonly Result[]> => {
  if (options.scale) return runAtScale(options);
  const scenarios = chosen(options.only);
  return withSystem(options, undefined, (bench) => runAll(scenarios, bench));
};

/** Replaces a part of the page that was measured `how`. */
const writePart = async (page: string, content: string, how: string): Promise<void> => {
  const written = await readFile(page, 'utf8').catch(() => '');
  const measured = `Measured ${new Date().toISOString().slice(0, 10)} on ${machine()}.\n\n${content}`;
  await writeFile(page, withMeasured(written, measured, how));
};

const runNoises = async (options: Options): Promise<void> => {
  const measured = await measureNoises(options);
  console.log(options.smoke ? 'All noises were made.' : `\n${measured}\n\n${machine()}`);
  if (options.markdown) await writePart(options.markdown, measured, 'beside noise');
};

const write = async (options: Options, results: readonly Result[]): Promise<void> => {
  const { json, markdown, scale, seconds } = options;
  const contacts = scale ? options.rows : options.contacts;
  const about = { at: new Date().toISOString(), machine: machine(), contacts, seconds };
  if (json) await writeFile(json, `${JSON.stringify({ ...about, results }, null, 2)}\n`);
  if (!markdown) return;
  await writePart(markdown, markdownTable(results), scale ? 'at scale' : 'by npm run bench');
};

try {
  const options = readOptions(process.argv.slice(2));
  if (areNoises(options.only)) await runNoises(options);
  else {
    const results = await run(options);
    console.log(
      options.smoke
        ? 'All scenarios ran and got the expected responses.'
        : `\n${table(results)}\n\n${machine()}`,
    );
    await write(options, results);
  }
} catch (error) {
  const isUsage = (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS');
  console.error(error instanceof Error ? error.message : error);
  if (isUsage) console.error(usage);
  process.exitCode = 1;
}
