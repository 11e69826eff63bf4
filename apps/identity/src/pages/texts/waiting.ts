const UNITS = [
  ['hour', 5400, 3600],
  ['minute', 90, 60],
  ['second', 0, 1],
] as const;

/** When to come back, in words and rounded up: "in 40 seconds", "in 5 minutes". */
export const waiting = (language: string, seconds: number): string => {
  const [unit, , size] = UNITS.find(([, least]) => seconds >= least) ?? UNITS[2];
  return new Intl.RelativeTimeFormat(language).format(Math.ceil(seconds / size), unit);
};
