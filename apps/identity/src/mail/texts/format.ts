import { UNKNOWN } from '../../origin/user-agent.ts';

const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const;

/** A duration in the largest unit that states it exactly: 3600 is "1 hour". */
export const duration = (language: string, seconds: number): string => {
  const [unit, size] = UNITS.find(([, size]) => seconds % size === 0) ?? UNITS[3];
  const format = new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' });
  return format.format(seconds / size);
};

/** A duration in Hungarian that says for how long: "1 óra" becomes "1 óráig". */
export const hungarianSpan = (time: string): string => `${time.replace(/óra$/, 'órá')}ig`;

/** What a device is called in a language: `named` where program and system are known, else what is. */
export const deviceName = (
  { browser, os }: { readonly browser: string; readonly os: string },
  named: (browser: string, os: string) => string,
  unknown: string,
): string => {
  if (browser === UNKNOWN) return os === UNKNOWN ? unknown : os;
  return os === UNKNOWN ? browser : named(browser, os);
};

/** A moment as people write it, with its time zone. */
export const moment = (language: string, at: Date, timeZone: string): string =>
  new Intl.DateTimeFormat(language, { dateStyle: 'long', timeStyle: 'long', timeZone }).format(at);
