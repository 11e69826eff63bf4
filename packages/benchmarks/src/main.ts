import { readFile, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { type Options, readOptions, usage } from './options.ts';
import { startProgram } from './program.ts';
import { markdownTable, table, withMeasured } from './report.ts';
import type { Result } from './scenario.ts';
import { chosen } from './scenarios/index.ts';
import { startSystem } from './system.ts';

/** The machine and Node release of the measurement. */
const machine = (): string => {
  const [first] = cpus();
  return `${cpus().length} × ${first?.model.trim() ?? 'unknown CPU'}, Node ${process.versions.node}`;
};

const run = async (options: Options): Promise<readonly Result[]> => {
  const scenarios = chosen(options.only);
  const system = await startSystem(options);
  const load = startProgram('load/generator');
  // Clean up after an interruption too.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void system.stop().finally(() => process.exit(1)));
  }
  const results: Result[] = [];
  try {
    for (const { name, run: measure } of scenarios) {
      console.error(`${name} ...`);
      try {
        const measured = await measure({ options, system, load });
        if (!options.smoke) console.error(table(measured));
        results.push(...measured);
      } catch (error) {
        throw new Error(`The scenario "${name}" failed: ${(error as Error).message}`, {
          cause: error,
        });
      }
    }
  } finally {
    await load.stop();
    await system.stop();
  }
  return results;
};

const write = async (options: Options, results: readonly Result[]): Promise<void> => {
  const { json, markdown, contacts, seconds } = options;
  const about = { at: new Date().toISOString(), machine: machine(), contacts, seconds };
  if (json) await writeFile(json, `${JSON.stringify({ ...about, results }, null, 2)}\n`);
  if (!markdown) return;
  const written = await readFile(markdown, 'utf8').catch(() => '');
  const measured = `Measured ${about.at.slice(0, 10)} on ${about.machine}.\n\n${markdownTable(results)}`;
  await writeFile(markdown, withMeasured(written, measured));
};

try {
  const options = readOptions(process.argv.slice(2));
  const results = await run(options);
  console.log(
    options.smoke
      ? 'All scenarios ran and got the expected responses.'
      : `\n${table(results)}\n\n${machine()}`,
  );
  await write(options, results);
} catch (error) {
  const isUsage = (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS');
  console.error(error instanceof Error ? error.message : error);
  if (isUsage) console.error(usage);
  process.exitCode = 1;
}
