import type pg from 'pg';
import { type SeededTenant, seedAccounts } from './accounts.ts';
import { chatTables, seedChat } from './chat.ts';
import { contentRelatedTables, seedContents } from './contents.ts';
import type { Progress } from './progress.ts';
import { type KindName, type RecordKind, recordKinds } from './records.ts';
import { type RecordsOf, seedRecords, shareOf } from './seed-records.ts';
import { seedSharedRecords, sharedTables } from './shared-records.ts';
import { smallTenant } from './small-tenants.ts';

export interface SeedOptions {
  readonly tenants: number;
  /** The number of users of these tenants together; at least one for each. */
  readonly users: number;
  /** The number of further tenants, with a few hundred records each; see `smallTenant`. */
  readonly smallTenants: number;
  /** The number of records of each kind, of the tenants that are not small together. No tenant has a kind with 0. */
  readonly records: Readonly<Record<KindName, number>>;
  /** Whether tenants that are not small get a few channels, bots, folders, texts and members of projects. */
  readonly samples: boolean;
  /** The same seed yields the same data, and continues an interrupted run. */
  readonly seed: number;
  readonly now: Date;
  readonly passwordHash: string;
  /** Whether CRM's requests for these records wait until they are loaded, which is faster. */
  readonly exclusive: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Called when the tenants exist, before they have records. */
  onTenants?(tenants: readonly SeededTenant[]): void;
}

/** The result of a run. */
export interface Seeded {
  readonly tenants: readonly SeededTenant[];
  readonly records: Readonly<Record<KindName, number>>;
}

/**
 * Fills the databases of both services. All accounts are one transaction, and so is each kind of record: an
 * interrupted run leaves no part of one behind, and the same options add what is still missing.
 */
export const seed = async (
  databases: { readonly identity: pg.Pool; readonly crm: pg.Pool },
  options: SeedOptions,
  progress: Progress,
): Promise<Seeded> => {
  await requireTables(databases.identity, 'identity', ['identity.tenants']);
  const kinds = kindNames.filter((name) => options.records[name] > 0);
  const tables = kinds.map((name) => tableOf(name));
  await requireTables(databases.crm, 'crm', [
    'tenant_crm.record_counts',
    ...(options.samples ? sampleTables.map((table) => `tenant_crm.${table}`) : []),
    ...tables,
  ]);
  const tenants = await seedAccounts(databases.identity, options, progress);
  options.onTenants?.(tenants);
  const existing = tenants.filter(({ existed }) => existed).length;
  if (existing > 0)
    progress.note(`${existing} of the ${tenants.length} tenants exist already and are unchanged.`);
  const added = { ...nothing };
  for (const name of kinds)
    added[name] = await add(databases.crm, name, tenants, options, progress);
  if (options.samples) {
    await addSamples(databases.crm, tenants.slice(0, options.tenants), options, progress);
  }
  return { tenants, records: added };
};

const addSamples = async (
  crm: pg.Pool,
  tenants: readonly SeededTenant[],
  options: SeedOptions,
  progress: Progress,
): Promise<void> => {
  const channels = await seedChat(crm, tenants, options);
  if (channels > 0) progress.note(`${channels} channels of the chat were added.`);
  await seedSharedRecords(crm, tenants, options);
  const texts = await seedContents(crm, tenants, options);
  if (texts > 0) progress.note(`${texts} articles, posts and pages were added.`);
};

const sampleTables = [...chatTables, ...sharedTables, ...contentRelatedTables] as const;

/** The tables in the schema `tenant_crm` in which each tenant that is not small gets rows by default. */
export const seededTables: readonly string[] = [
  ...Object.values(recordKinds).map(({ table }) => table),
  'custom_fields',
  ...sampleTables,
];

export const kindNames = Object.keys(recordKinds) as KindName[];
/** The name of a kind in texts: `communication logs`. */
export const wordsOf = (name: string): string => name.replaceAll('_', ' ');
/** The option of the command line for a kind: `--communication-logs`. */
export const optionOf = (name: KindName): string => `--${name.replaceAll('_', '-')}`;
const nothing = Object.fromEntries(kindNames.map((name) => [name, 0])) as Record<KindName, number>;
const tableOf = (name: KindName): string => `tenant_crm.${recordKinds[name].table}`;

/** Adds records of one kind to the tenants that have none yet; returns their number. */
const add = async (
  crm: pg.Pool,
  name: KindName,
  tenants: readonly SeededTenant[],
  { tenants: large, records, seed, now, exclusive, signal }: SeedOptions,
  progress: Progress,
): Promise<number> => {
  const filled = await tenantsWith(crm, name, tenants);
  const countFor = (at: number): number =>
    at < large ? shareOf(records[name], large, at) : smallTenant.records[name];
  const shares = tenants.map(
    ({ id, language, users }, at): RecordsOf => ({
      tenantId: id,
      language,
      users,
      count: filled.has(id) ? 0 : countFor(at),
    }),
  );
  if (filled.size > 0) {
    progress.note(
      `${filled.size} of the ${tenants.length} tenants already have ${wordsOf(name)} and get no more: ${optionOf(name)} is for tenants without any. For further tenants, with records of their own, give another --seed.`,
    );
  }
  const total = shares.reduce((sum, { count }) => sum + count, 0);
  if (total === 0) return 0;
  const rebuildIndexes = exclusive && (await isWorthRebuilding(crm, name, total));
  if (rebuildIndexes)
    progress.note(
      `Requests for ${wordsOf(name)} wait until all of them are loaded (--no-exclusive avoids that, and takes twice as long).`,
    );
  const task = progress.begin(wordsOf(name), total);
  let added = 0;
  try {
    await seedRecords(crm, name, shares, {
      seed,
      now,
      signal,
      rebuildIndexes,
      onRows(count) {
        added += count;
        task.advance(count);
      },
      onIndex: ({ name: index, position, count, percent }) =>
        task.step(`building index ${position} of ${count}, ${index}`, `${percent} %`),
    });
  } finally {
    task.end();
  }
  const { needs }: RecordKind = recordKinds[name];
  if (added === 0 && needs) {
    progress.note(
      `No ${wordsOf(name)} were added: each refers to one of the tenant's ${needs.join(' or ')}, and there are none. Add ${needs.map(optionOf).join(' or ')}.`,
    );
  }
  return added;
};

/** The ids of tenants that have a record of a kind, deleted or not. */
const tenantsWith = async (
  crm: pg.Pool,
  name: KindName,
  tenants: readonly SeededTenant[],
): Promise<Set<string>> => {
  const { rows } = await crm.query<{ id: string }>(
    `SELECT tenant AS id FROM unnest($1::uuid[]) AS tenant
     WHERE EXISTS (SELECT FROM ${tableOf(name)} WHERE tenant_id = tenant)`,
    [tenants.map(({ id }) => id)],
  );
  return new Set(rows.map(({ id }) => id));
};

/** Adding a row to the indexes costs as much as rebuilding them does for this many rows. */
const REBUILD_RATIO = 2.5;

/** Whether rebuilding the indexes is faster than adding the new rows to them. */
const isWorthRebuilding = async (crm: pg.Pool, name: KindName, total: number): Promise<boolean> => {
  const { rows } = await crm.query<{ existing: number }>(
    `SELECT coalesce(sum(count), 0)::float AS existing FROM tenant_crm.record_counts
     WHERE table_name = $1 AND scope_column = ''`,
    [recordKinds[name].table],
  );
  return total + (rows[0]?.existing ?? 0) < REBUILD_RATIO * total;
};

const requireTables = async (
  pool: pg.Pool,
  app: string,
  tables: readonly string[],
): Promise<void> => {
  const { rows } = await pool.query<{ name: string }>(
    'SELECT name FROM unnest($1::text[]) AS name WHERE to_regclass(name) IS NULL',
    [tables],
  );
  const [missing] = rows;
  if (missing) {
    throw new Error(
      `The database of ${app} lacks ${missing.name}: start ${app} of this release once.`,
    );
  }
};
