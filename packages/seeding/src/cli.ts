import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { type LocalDatabases, localDatabases } from '@tessera/local-stack';
import bcrypt from 'bcrypt';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import type { SeededTenant } from './accounts.ts';
import { openPool } from './pool.ts';
import { terminalProgress } from './progress.ts';
import type { KindName } from './records.ts';
import { kindNames, optionOf, type Seeded, type SeedOptions, seed, wordsOf } from './seed.ts';
import { smallTenant } from './small-tenants.ts';

const USAGE_ERROR = 2;
/** 128 plus the number of SIGINT, as shells report it. */
const INTERRUPTED = 130;
const MAX_NUMBER = 100_000_000;
/** Tenants are planned in memory, unlike users and records. */
const MAX_TENANTS = 100_000;
/** The cost that identity uses: with a lower one, the first sign-in of each user would hash again. */
const BCRYPT_COST = 12;
/** Where `npm start` keeps its data. */
const localDirectory = fileURLToPath(new URL('../../../.data', import.meta.url));

const wholeNumber =
  (min: number, max = MAX_NUMBER) =>
  (text: string): number => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= min && number <= max) return number;
    throw new InvalidArgumentError(`It is a whole number from ${min} to ${max}.`);
  };

const password = (text: string): string => {
  if (text.length >= 12 && Buffer.byteLength(text) <= 72) return text;
  throw new InvalidArgumentError('It has at least 12 characters and at most 72 bytes.');
};

interface Options {
  readonly tenants: number;
  readonly users: number;
  readonly smallTenants: number;
  readonly seed: number;
  readonly password?: string;
  readonly exclusive?: boolean;
  readonly samples?: boolean;
}

const program = new Command('npm run seed --')
  .description(
    'Fills the databases of the local system, or those of IDENTITY_DATABASE_URL and CRM_DATABASE_URL, ' +
      'with tenants, users and records. Without options for records, tenants get all kinds of records and the ' +
      'samples; with any of them, they get only what these options name. The same options again make what is missing: tenants, and records ' +
      'for tenants that have none of a kind. A larger number does not add to tenants that have some: ' +
      '--contacts 40000 after --contacts 20000 adds nothing. Another --seed makes further tenants.',
  )
  .option('--tenants <number>', 'how many tenants', wholeNumber(1, MAX_TENANTS), 3)
  .option('--users <number>', 'how many users they have together', wholeNumber(1), 30)
  .option(
    '--small-tenants <number>',
    `how many tenants there are besides, with ${smallTenant.users} users, ${smallTenant.records.contacts} contacts and fewer other records each, of the same kinds`,
    wholeNumber(0, MAX_TENANTS),
    0,
  )
  .option(
    '--seed <number>',
    'another number makes other tenants, with other records',
    wholeNumber(0),
    1,
  )
  .option('--password <text>', 'password of every user; random by default', password)
  .option(
    '--samples',
    'a few channels, bots, folders, articles, posts, pages and members of projects for tenants that are not small and have none',
  )
  .option('--exclusive', 'requests for records wait until all are loaded, which is faster')
  .option(
    '--no-exclusive',
    'requests do not wait: the default for databases named in the environment',
  )
  .exitOverride();
const defaults: Record<KindName, number> = {
  companies: 500,
  contacts: 10_000,
  communication_logs: 5_000,
  leave_requests: 1_000,
  projects: 50,
  tasks: 5_000,
  time_entries: 20_000,
};
const recordOptions = kindNames.map((name) => {
  const text = `how many ${wordsOf(name)} the tenants that are not small and have none get, together (${defaults[name]} if no option names what to add)`;
  const option = new Option(`${optionOf(name)} <number>`, text).argParser(wholeNumber(0));
  program.addOption(option);
  return [name, option] as const;
});

/** What the options ask for: everything if they do not say. */
const readContents = ({ samples }: Options): Pick<SeedOptions, 'records' | 'samples'> => {
  const given = recordOptions.map(([name, option]) => {
    const number: number | undefined = program.getOptionValue(option.attributeName());
    return [name, number] as const;
  });
  if (samples === undefined && given.every(([, number]) => number === undefined)) {
    return { records: defaults, samples: true };
  }
  const records = Object.fromEntries(given.map(([name, number]) => [name, number ?? 0]));
  return { records: records as Record<KindName, number>, samples: samples ?? false };
};

const readOptions = (): Options => {
  const options = program.parse().opts<Options>();
  if (options.users < options.tenants) {
    program.error(
      `error: --users (${options.users}) must be at least --tenants (${options.tenants}): each tenant has an owner.`,
    );
  }
  return options;
};

const givenDatabases = (): LocalDatabases | undefined => {
  const { IDENTITY_DATABASE_URL: identity, CRM_DATABASE_URL: crm } = process.env;
  if (!identity && !crm) return undefined;
  if (identity && crm) return { identity, crm, stop: async () => {} };
  return program.error(
    `error: ${identity ? 'CRM_DATABASE_URL' : 'IDENTITY_DATABASE_URL'} is missing: both are given, or none.`,
  );
};

const createdOf = (tenants: readonly SeededTenant[]) => tenants.filter(({ existed }) => !existed);

/** Prints the accounts before records are added: they stay when the run is interrupted. */
const printAccounts = (tenants: readonly SeededTenant[], secret: string): void => {
  const created = createdOf(tenants);
  for (const { name, ownerEmail } of created.slice(0, 5)) {
    console.log(`  owner of ${name}: ${ownerEmail}`);
  }
  console.log(
    created.length > 0
      ? `Everybody's password: ${secret}`
      : 'The users have the password that was printed when they were created.',
  );
};

const report = ({ tenants, records }: Seeded, seconds: number): void => {
  const created = createdOf(tenants);
  const users = created.reduce((sum, { added }) => sum + added, 0);
  const counts = { tenants: created.length, users, ...records };
  const parts = Object.entries(counts).map(
    ([name, n]) => `${n.toLocaleString('en')} ${wordsOf(name)}`,
  );
  console.log(`Added ${parts.join(', ')} in ${seconds.toFixed(0)} s.`);
};

const main = async (): Promise<void> => {
  const options = readOptions();
  const { tenants, users, smallTenants, seed: number, exclusive, password: chosen } = options;
  const given = givenDatabases();
  const interruption = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => interruption.abort(new Interrupted()));
  }
  const started = performance.now();
  const databases = given ?? (await localDatabases(localDirectory));
  const pools = {
    identity: openPool(databases.identity),
    crm: openPool(databases.crm),
  };
  try {
    const secret = chosen ?? `${randomBytes(12).toString('base64url')}-aA1`;
    const seeded = await seed(
      pools,
      {
        tenants,
        users,
        smallTenants,
        seed: number,
        ...readContents(options),
        now: new Date(),
        // Nobody else uses the local system.
        exclusive: exclusive ?? !given,
        passwordHash: await bcrypt.hash(secret, BCRYPT_COST),
        signal: interruption.signal,
        onTenants: (created) => printAccounts(created, secret),
      },
      terminalProgress(),
    );
    report(seeded, (performance.now() - started) / 1000);
  } finally {
    await Promise.all(Object.values(pools).map((pool) => pool.end()));
    await databases.stop();
  }
};

class Interrupted extends Error {
  constructor() {
    super(
      'Interrupted. Unfinished work was rolled back; run the same command again to complete the data.',
    );
  }
}

try {
  await main();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : USAGE_ERROR;
  } else {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = error instanceof Interrupted ? INTERRUPTED : 1;
  }
}
