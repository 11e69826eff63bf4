import { parseArgs } from 'node:util';

export interface Options {
  /** Names of scenarios; empty for all. */
  readonly only: readonly string[];
  /** Duration of the load on each side of a comparison, in seconds. */
  readonly seconds: number;
  /** Runs every scenario briefly, to check that it works, not how fast it is. */
  readonly smoke: boolean;
  readonly contacts: number;
  /** Whether to run the scenarios of a large tenant (lists, searches and others) instead of the usual ones. */
  readonly scale: boolean;
  /** The number of contacts of the large tenant; the numbers of its other records follow. */
  readonly rows: number;
  /** Directory for the data of `scale`, which is kept for the next run. */
  readonly keep: string | undefined;
  readonly policyChanges: number;
  readonly json: string | undefined;
  readonly markdown: string | undefined;
  /** Whether CRM runs the statements of tenants under row-level security, as it does by default. */
  readonly rowSecurity: boolean;
  /** Folder for the CPU profiles of both services. */
  readonly profile: string | undefined;
}

export const usage = `npm run bench -- [--only name,...] [--seconds N] [--contacts N]
           [--no-row-security] [--smoke] [--json FILE] [--markdown FILE] [--profile FOLDER]
npm run bench -- --only noisy [--seconds N] [--smoke] [--markdown FILE]
npm run bench -- --scale [--rows N] [--keep FOLDER] and the same options except --contacts`;

const positive = (name: string, text: string): number => {
  const number = Number(text);
  if (number > 0 && Number.isFinite(number)) return number;
  throw new Error(`--${name} must be a number above 0, not "${text}".`);
};

/** Parses the command line; throws an error that describes what is wrong. */
export const readOptions = (args: readonly string[]): Options => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', default: '' },
      seconds: { type: 'string' },
      contacts: { type: 'string' },
      scale: { type: 'boolean', default: false },
      rows: { type: 'string' },
      keep: { type: 'string' },
      smoke: { type: 'boolean', default: false },
      'no-row-security': { type: 'boolean', default: false },
      json: { type: 'string' },
      markdown: { type: 'string' },
      profile: { type: 'string' },
    },
  });
  const { smoke, scale } = values;
  const other = scale ? values.contacts : (values.rows ?? values.keep);
  if (other !== undefined) {
    throw new Error(scale ? '--contacts is not for --scale.' : '--rows and --keep need --scale.');
  }
  return {
    smoke,
    only: values.only.split(',').filter(Boolean),
    seconds: positive('seconds', values.seconds ?? (smoke ? '0.2' : scale ? '4' : '16')),
    contacts: positive('contacts', values.contacts ?? (smoke ? '2000' : '100000')),
    scale,
    rows: positive('rows', values.rows ?? (smoke ? '2000' : '1000000')),
    keep: values.keep,
    policyChanges: smoke ? 5 : 200,
    rowSecurity: !values['no-row-security'],
    json: values.json,
    markdown: values.markdown,
    profile: values.profile,
  };
};
