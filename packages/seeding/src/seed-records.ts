import type pg from 'pg';
import { type BulkLoad, bulkLoad } from './bulk-load.ts';
import type { Row } from './copy.ts';
import { declareCustomFields } from './custom-fields.ts';
import { createRandom, type Language } from './random.ts';
import { type KindName, type RecordContext, type RecordKind, recordKinds } from './records.ts';

const DAY_MS = 86_400_000;
/** The age of the oldest record; the newest is created now. */
const AGE_MS = 3 * 365 * DAY_MS;
/** The largest number of users, or of records of one kind, that records refer to: in one tenant, and in all tenants. */
const MAX_REFERENCES = { each: 50_000, together: 1_000_000 };

/** A tenant that gets records. */
export interface RecordsOf {
  readonly tenantId: string;
  /** The number of records. */
  readonly count: number;
  /** Default: Hungarian. */
  readonly language?: Language | undefined;
  /** Ids of users who own the records. Default: no owner. */
  readonly users?: readonly string[] | undefined;
}

export interface SeedRecordsOptions {
  /** The same seed yields the same records. Default: 1. */
  readonly seed?: number | undefined;
  /** The creation time of the newest record; the oldest is three years older. Default: now. */
  readonly now?: Date | undefined;
  /** See `bulkLoad`. Default: true. */
  readonly rebuildIndexes?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onRows?: ((count: number) => void) | undefined;
  readonly onIndex?: BulkLoad['onIndex'];
}

/** Adds records of one kind to tenants in CRM's database: all of them or none (see `bulkLoad`). */
export const seedRecords = async (
  pool: pg.Pool,
  name: KindName,
  tenants: readonly RecordsOf[],
  { seed = 1, now = new Date(), rebuildIndexes = true, ...watching }: SeedRecordsOptions = {},
): Promise<void> => {
  const kind: RecordKind = recordKinds[name];
  if (name === 'contacts') {
    const filled = tenants.filter(({ count }) => count > 0).map(({ tenantId }) => tenantId);
    await declareCustomFields(pool, filled, watching.signal);
  }
  const idsIn = (table: string) => idsOf(pool, table, tenants);
  const companies = await idsIn('companies');
  const contacts = await idsIn('contacts');
  const projects = await idsIn('projects');
  const place = Object.keys(recordKinds).indexOf(name);
  const rows = function* (): Generator<Row> {
    for (const [at, of] of tenants.entries()) {
      const ids = {
        companies: companies.get(of.tenantId) ?? [],
        contacts: contacts.get(of.tenantId) ?? [],
        projects: projects.get(of.tenantId) ?? [],
      };
      yield* rowsOf(kind, of, ids, { seed: [seed, place, at], now });
    }
  };
  await bulkLoad(pool, rows(), {
    table: `tenant_crm.${kind.table}`,
    rebuildIndexes,
    ...watching,
  });
};

/** The share that number `index` of `parts` gets of a total that is spread evenly. */
export const shareOf = (total: number, parts: number, index: number): number =>
  Math.floor(total / parts) + (index < total % parts ? 1 : 0);

/** The largest number of users, or of records of one kind, that the records of one of `tenants` tenants refer to. */
export const maxReferences = (tenants: number): number => {
  const { each, together } = MAX_REFERENCES;
  return Math.min(each, Math.ceil(together / tenants));
};

/** Adds contacts to one tenant. */
export const seedContacts = (
  pool: pg.Pool,
  { tenantId, count, ...options }: RecordsOf & SeedRecordsOptions,
): Promise<void> => seedRecords(pool, 'contacts', [{ tenantId, count, ...options }], options);

function* rowsOf(
  kind: RecordKind,
  { tenantId, count, language = 'hu', users = [] }: RecordsOf,
  ids: Pick<RecordContext, 'companies' | 'contacts' | 'projects'>,
  { seed, now }: { readonly seed: readonly number[]; readonly now: Date },
): Generator<Row> {
  if (kind.needs?.every((needed) => ids[needed].length === 0)) return;
  const random = createRandom(...seed);
  const context = { language, users, ...ids };
  for (let index = 0; index < count; index += 1) {
    const age = AGE_MS * (1 - (index + random.next()) / count);
    const created = new Date(now.getTime() - age);
    const updated = random.chance(0.3) ? new Date(now.getTime() - age * random.next()) : created;
    yield {
      id: random.uuid(created),
      tenant_id: tenantId,
      created_at: created,
      updated_at: updated,
      ...kind.row(random, context, created),
    };
  }
}

/**
 * The first ids of each tenant's records in a table; none if the table does not exist. Tenants that get more
 * records refer to more.
 */
const idsOf = async (
  pool: pg.Pool,
  table: string,
  tenants: readonly RecordsOf[],
): Promise<ReadonlyMap<string, readonly string[]>> => {
  const { rows: tables } = await pool.query<{ table: string | null }>(
    'SELECT to_regclass($1)::text AS table',
    [`tenant_crm.${table}`],
  );
  if (!tables[0]?.table) return new Map();
  const all = tenants.reduce((sum, { count }) => sum + count, 0);
  const { rows } = await pool.query<{ id: string; ids: string[] }>(
    `SELECT tenant AS id, ARRAY(
       SELECT id FROM tenant_crm.${table} WHERE tenant_id = tenant AND deleted_at IS NULL
       ORDER BY id LIMIT most
     ) AS ids
     FROM unnest($1::uuid[], $2::int[]) AS given (tenant, most)`,
    [
      tenants.map(({ tenantId }) => tenantId),
      tenants.map(({ count }) => maxReferences(all / Math.max(count, 1))),
    ],
  );
  return new Map(rows.map(({ id, ids }) => [id, ids]));
};
