import type pg from 'pg';
import { type BulkLoad, bulkLoad } from './bulk-load.ts';
import type { Row } from './copy.ts';
import { createRandom, type Language } from './random.ts';
import { type KindName, type RecordKind, recordKinds } from './records.ts';

const DAY_MS = 86_400_000;
/** The first record is this old; the last one is of now. */
const AGE_MS = 3 * 365 * DAY_MS;
/** As many users or companies as the records of one tenant refer to, and those of all tenants. */
const MOST_REFERENCES = { each: 50_000, together: 1_000_000 };

/** A tenant that gets records. */
export interface RecordsOf {
  readonly tenantId: string;
  /** How many. */
  readonly count: number;
  /** Default: Hungarian. */
  readonly language?: Language | undefined;
  /** Ids of users who own the records. Default: nobody owns them. */
  readonly users?: readonly string[] | undefined;
}

export interface SeedRecordsOptions {
  /** The same number gives the same records. Default: 1. */
  readonly seed?: number | undefined;
  /** When the last record is made: the others reach three years back. Default: the present. */
  readonly now?: Date | undefined;
  /** See `bulkLoad`. Default: true. */
  readonly rebuildIndexes?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onRows?: ((count: number) => void) | undefined;
  readonly onIndex?: BulkLoad['onIndex'];
}

/** Makes records of one kind for some tenants, on CRM's database; all of them or none (see `bulkLoad`). */
export const seedRecords = async (
  pool: pg.Pool,
  name: KindName,
  tenants: readonly RecordsOf[],
  { seed = 1, now = new Date(), rebuildIndexes = true, ...watching }: SeedRecordsOptions = {},
): Promise<void> => {
  const kind: RecordKind = recordKinds[name];
  const most = mostReferences(tenants.length);
  const companies = await Promise.all(tenants.map((of) => companiesOf(pool, of.tenantId, most)));
  const place = Object.keys(recordKinds).indexOf(name);
  const rows = function* (): Generator<Row> {
    for (const [at, of] of tenants.entries()) {
      yield* rowsOf(kind, of, companies[at] ?? [], { seed: [seed, place, at], now });
    }
  };
  await bulkLoad(pool, rows(), {
    table: `tenant_crm.${kind.table}`,
    rebuildIndexes,
    ...watching,
  });
};

/** How much of a total the one at a place gets, where it is spread evenly over so many. */
export const shareOf = (total: number, many: number, at: number): number =>
  Math.floor(total / many) + (at < total % many ? 1 : 0);

/** To how many users, or companies, the records of each of so many tenants refer at most. */
export const mostReferences = (tenants: number): number => {
  const { each, together } = MOST_REFERENCES;
  return Math.min(each, Math.ceil(together / tenants));
};

/** Makes contacts in one tenant. */
export const seedContacts = (
  pool: pg.Pool,
  { tenantId, count, ...options }: RecordsOf & SeedRecordsOptions,
): Promise<void> => seedRecords(pool, 'contacts', [{ tenantId, count, ...options }], options);

function* rowsOf(
  kind: RecordKind,
  { tenantId, count, language = 'hu', users = [] }: RecordsOf,
  companies: readonly string[],
  { seed, now }: { readonly seed: readonly number[]; readonly now: Date },
): Generator<Row> {
  const random = createRandom(...seed);
  const around = { language, users, companies };
  for (let made = 0; made < count; made += 1) {
    const age = AGE_MS * (1 - (made + random.next()) / count);
    const created = new Date(now.getTime() - age);
    const updated = random.chance(0.3) ? new Date(now.getTime() - age * random.next()) : created;
    yield {
      id: random.uuid(created),
      tenant_id: tenantId,
      created_at: created,
      updated_at: updated,
      ...kind.row(random, around, created),
    };
  }
}

const companiesOf = async (pool: pg.Pool, tenantId: string, most: number): Promise<string[]> => {
  const { rows: there } = await pool.query<{ table: string | null }>(
    `SELECT to_regclass('tenant_crm.companies')::text AS table`,
  );
  if (!there[0]?.table) return [];
  const { rows } = await pool.query<{ id: string }>(
    `SELECT id FROM tenant_crm.companies WHERE tenant_id = $1 AND deleted_at IS NULL
     ORDER BY id LIMIT ${most}`,
    [tenantId],
  );
  return rows.map(({ id }) => id);
};
