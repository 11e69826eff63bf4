import { parseArgs } from 'node:util';
import type { Scenario } from './scenario.ts';

export interface Options {
  readonly scenarios: readonly Scenario[];
  /** How long a scenario lasts. */
  secondsOf(scenario: Scenario): number;
  readonly smoke: boolean;
  /** The page whose table is replaced. */
  readonly write: string | undefined;
}

export const usage = `npm run test:faults -- [--only name,...] [--seconds N] [--kill-seconds N] [--smoke]
       [--write docs/faults.md]`;

/** The scenarios that CI runs, which need no file store and take about a minute together. */
const SMOKE: readonly string[] = ['database-cut', 'noisy-tenant', 'rolling-restart', 'kills'];
const SMOKE_SECONDS = 3;

const seconds = (name: string, text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (number > 0 && Number.isFinite(number)) return number;
  throw new Error(`--${name} must be a number above 0, not "${text}".`);
};

/** Parses the command line; throws an error that describes what is wrong. */
export const readOptions = (args: readonly string[], all: readonly Scenario[]): Options => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', default: '' },
      seconds: { type: 'string' },
      'kill-seconds': { type: 'string' },
      smoke: { type: 'boolean', default: false },
      write: { type: 'string' },
    },
  });
  const only = values.smoke && !values.only ? SMOKE : values.only.split(',').filter(Boolean);
  for (const name of only) {
    if (!all.some((scenario) => scenario.name === name)) {
      throw new Error(
        `There is no scenario ${name}. There are ${all.map((one) => one.name).join(', ')}.`,
      );
    }
  }
  const common = seconds('seconds', values.seconds) ?? (values.smoke ? SMOKE_SECONDS : undefined);
  const ofKills = seconds('kill-seconds', values['kill-seconds']);
  return {
    scenarios: only.length === 0 ? all : all.filter(({ name }) => only.includes(name)),
    secondsOf: (scenario) =>
      (scenario.name === 'kills' ? ofKills : undefined) ?? common ?? scenario.seconds,
    smoke: values.smoke,
    write: values.write,
  };
};
