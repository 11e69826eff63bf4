import { setTimeout as delay } from 'node:timers/promises';
import type { Service } from '../system.ts';
import { peakMemory } from './memory.ts';
import type { Noise } from './noise.ts';
import { BACKGROUND, type Noticed, type Probe, p99Of, REQUESTS, workQuietly } from './quiet.ts';
import type { NoisySystem } from './system.ts';

const MAX_RATIO: Readonly<Record<Probe, number>> = {
  list: 3,
  write: 3,
  article: 3,
  'sign-in': 3,
  thumbnail: 10,
  import: 10,
  mail: 10,
};
const MIB = 1024 * 1024;
/** Resident memory in MiB; the shipped limits are 512 and 832. */
export const MAX_MEMORY: Readonly<Record<Service, number>> = { identity: 320, crm: 450 };
/** How long the services answer before anything is measured, so that caches are filled and code is compiled. */
const WARM_UP_MS = 3000;
/** How long the noise lasts before the quiet tenant is measured. */
const HEAD_START_MS = 500;
/** How many problems are listed. */
const LISTED = 3;

/** One noise and what the quiet tenant noticed of it. */
export interface NoisyResult {
  readonly name: string;
  readonly title: string;
  readonly noticed: Noticed;
  /** The p99 beside the noise, as a ratio to the quiet run. */
  readonly ratios: Readonly<Record<Probe, number>>;
  /** Peaks of resident memory in MiB. */
  readonly memory: Readonly<Record<Service, number>>;
  readonly noise: Readonly<Record<string, number>>;
  /** What is not as it should be. */
  readonly missed: readonly string[];
}

/** The quiet tenant works for some milliseconds. */
export const measureQuietly = (system: NoisySystem, ms: number): Promise<Noticed> =>
  workQuietly(system.quiet, AbortSignal.timeout(ms));

/** The quiet run that the others are compared with. */
export const quietRun = async (system: NoisySystem, ms: number): Promise<Noticed> => {
  await measureQuietly(system, WARM_UP_MS);
  return measureQuietly(system, ms);
};

const missedGoals = ({ noticed, ratios, memory }: Omit<NoisyResult, 'missed'>): string[] => [
  ...[...REQUESTS, ...BACKGROUND].flatMap((probe) =>
    ratios[probe] > MAX_RATIO[probe] ? [`${probe} ${ratios[probe].toFixed(1)} times`] : [],
  ),
  ...(noticed.errors.length > 0
    ? [`${noticed.errors.length} errors (${noticed.errors.slice(0, LISTED).join('; ')})`]
    : []),
  ...(['identity', 'crm'] as const).flatMap((service) =>
    memory[service] > MAX_MEMORY[service] ? [`${service} ${Math.round(memory[service])} MiB`] : [],
  ),
];

const resultOf = ({
  noise,
  noticed,
  quiet,
  peak,
  noted,
}: {
  readonly noise: Noise;
  readonly noticed: Noticed;
  readonly quiet: Noticed;
  readonly peak: Readonly<Record<Service, number>>;
  readonly noted: Readonly<Record<string, number>>;
}): NoisyResult => {
  const [idle, beside] = [p99Of(quiet), p99Of(noticed)];
  const ratios = Object.fromEntries(
    [...REQUESTS, ...BACKGROUND].map((probe) => [probe, beside[probe] / idle[probe]]),
  ) as Record<Probe, number>;
  const result = {
    name: noise.name,
    title: noise.title,
    noticed,
    ratios,
    memory: { identity: peak.identity / MIB, crm: peak.crm / MIB },
    noise: noted,
  };
  return { ...result, missed: missedGoals(result) };
};

/** Makes a noise while the quiet tenant works for some milliseconds, and compares with the quiet run. */
export const runNoise = async (
  system: NoisySystem,
  noise: Noise,
  { quiet, ms }: { readonly quiet: Noticed; readonly ms: number },
): Promise<NoisyResult> => {
  await system.renew();
  await noise.prepare?.(system.noisy);
  await measureQuietly(system, WARM_UP_MS);
  system.noted();
  const peaks = peakMemory();
  await peaks.reset();
  const ended = new AbortController();
  const making = noise.make(system.noisy, ended.signal);
  // A noise that fails is seen in the answers that it got.
  making.catch(() => undefined);
  try {
    await delay(HEAD_START_MS);
    const noticed = await measureQuietly(system, ms);
    const peak = await peaks.read();
    return resultOf({ noise, noticed, quiet, peak, noted: system.noted() });
  } finally {
    ended.abort();
    await making.catch(() => undefined);
  }
};
