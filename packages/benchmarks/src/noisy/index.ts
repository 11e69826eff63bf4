import type { Options } from '../options.ts';
import type { Noise, NoisyAccess } from './noise.ts';
import { backgroundNoises } from './noises/background.ts';
import { identityNoises, plainIdentityNoises } from './noises/identity.ts';
import { plainRequestNoises, requestNoises } from './noises/requests.ts';
import { noisyTable } from './report.ts';
import { type NoisyResult, quietRun, runNoise } from './run.ts';
import { startNoisySystem } from './system.ts';

export { type PeakMemory, peakMemory } from './memory.ts';
export type { Noise, NoisyAccess } from './noise.ts';
export { MAX_MEMORY } from './run.ts';
export { createSender } from './sender.ts';

export const noises: readonly Noise[] = [...identityNoises, ...requestNoises, ...backgroundNoises];

/** Noises of requests that need nothing but accounts. */
export const plainNoises: readonly Noise<NoisyAccess>[] = [
  ...plainIdentityNoises,
  ...plainRequestNoises,
];

const ALL = 'noisy';
const SECONDS = 15;
const SMOKE_SECONDS = 1;

/** Whether the command line chooses noises, which run by themselves. */
export const areNoises = (names: readonly string[]): boolean =>
  names.length > 0 && names.every((name) => name === ALL || name.startsWith(`${ALL}-`));

const chosen = (names: readonly string[]): readonly Noise[] => {
  const unknown = names.find(
    (name) => name !== ALL && noises.every((noise) => noise.name !== name),
  );
  if (unknown !== undefined) {
    const known = noises.map(({ name }) => name).join(', ');
    throw new Error(`There is no noise "${unknown}". Available: noisy (all), ${known}.`);
  }
  return names.includes(ALL) ? noises : noises.filter(({ name }) => names.includes(name));
};

/** Measures what a quiet tenant notices of noisy ones; returns the table in Markdown. */
export const measureNoises = async ({ only, smoke, seconds }: Options): Promise<string> => {
  const ms = 1000 * (smoke ? SMOKE_SECONDS : Math.min(seconds, SECONDS));
  const selected = chosen(only);
  const system = await startNoisySystem();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void system.stop().finally(() => process.exit(1)));
  }
  const results: NoisyResult[] = [];
  const failures: unknown[] = [];
  try {
    const quiet = await quietRun(system, ms);
    if (quiet.errors.length > 0) throw new Error(`Without noise: ${quiet.errors[0]}`);
    for (const noise of selected) {
      console.error(`${noise.name} ...`);
      const result = await runNoise(system, noise, { quiet, ms }).catch((error) => {
        failures.push(new Error(`The noise "${noise.name}" failed: ${error.message}`));
        console.error(`  failed: ${error.message}`);
      });
      if (!result) continue;
      results.push(result);
      console.error(noisyTable(quiet, [result]).split('\n').at(-1));
      for (const missed of result.missed) console.error(`  ${missed}`);
    }
    const table = noisyTable(quiet, results);
    if (failures.length === 0) return table;
    // What could be measured is not lost.
    console.error(table);
    throw new AggregateError(failures, failures.map(String).join('\n'));
  } finally {
    await system.stop();
  }
};
