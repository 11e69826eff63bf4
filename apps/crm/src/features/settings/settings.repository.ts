import { isDeepStrictEqual } from 'node:util';
import { validate } from '@tessera/fields';
import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { preconditionFailed } from '../../records/versions.ts';
import { type Settings, type SettingsChange, settings } from './settings.schema.ts';

const { sql } = Prisma;

/** The settings of a tenant with their version, which is 1 until one is changed. */
export interface VersionedSettings {
  readonly settings: Settings;
  readonly version: number;
  /** Null if no setting was ever changed. */
  readonly updatedAt: Date | null;
}

interface Row {
  readonly settings: Readonly<Record<string, unknown>>;
  readonly public_slug: string | null;
  readonly version: number;
  readonly updated_at: Date;
}

const FIRST_VERSION = 1;

/** The default replaces a value that an earlier release stored and this one no longer accepts. */
const complete = (stored: Row['settings']): Settings =>
  Object.fromEntries(
    Object.entries(settings).map(([name, { field, default: value }]) => {
      const own = validate(field, stored[name]);
      return [name, own.ok ? own.value : value];
    }),
  ) as unknown as Settings;

const present = (row: Row | undefined): VersionedSettings => {
  const { settings: stored = {}, version = FIRST_VERSION } = row ?? {};
  // A change that changes nothing leaves a row in the first version.
  const updatedAt = row && version > FIRST_VERSION ? row.updated_at : null;
  return { settings: complete(stored), version, updatedAt };
};

const select = (db: TenantDb, lock: Prisma.Sql): Promise<Row[]> =>
  db.query<Row>(sql`
    SELECT settings, public_slug, version, updated_at FROM tenant_crm.tenant_settings
    WHERE tenant_id = ${db.tenantId}::uuid ${lock}`);

/** The settings of a tenant with their version. */
export const findSettings = async (db: TenantDb): Promise<VersionedSettings> =>
  present((await select(db, Prisma.empty))[0]);

/** What a change of settings needs besides the values. */
export interface ChangeOptions {
  /** The slug of the tenant, which public reading is found by. */
  readonly slug: string;
  /** The versions that the caller accepts; any version if undefined. */
  readonly versions?: readonly number[] | undefined;
}

/**
 * Changes the given settings; null restores the default. If all of them stay the same, the version does not change. 412 if
 * the settings have none of the `versions`.
 */
export const updateSettings = (
  db: TenantDb,
  change: SettingsChange,
  { slug, versions }: ChangeOptions,
): Promise<VersionedSettings> =>
  db.transaction(async (transaction) => {
    const given = Object.entries(change).filter(([, value]) => value !== undefined);
    // Creates the row to lock; a rejected change rolls this back.
    if (given.length > 0) {
      await transaction.query(sql`
        INSERT INTO tenant_crm.tenant_settings (tenant_id, version)
        VALUES (${db.tenantId}::uuid, ${FIRST_VERSION}) ON CONFLICT (tenant_id) DO NOTHING`);
    }
    const [stored] = await select(transaction, sql`FOR UPDATE`);
    const current = present(stored);
    if (versions && !versions.includes(current.version)) throw preconditionFailed();
    if (!stored || given.length === 0) return current;
    const changed = { ...stored.settings, ...Object.fromEntries(given) };
    const next = Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== null));
    const settings = complete(next);
    const publicSlug = settings.public_reading ? slug : null;
    const isSame = isDeepStrictEqual(settings, current.settings);
    if (isSame && publicSlug === stored.public_slug) return current;
    const [row] = await transaction.query<Row>(sql`
      UPDATE tenant_crm.tenant_settings
      SET settings = ${JSON.stringify(next)}::jsonb, public_slug = ${publicSlug}, version = version + 1,
        updated_at = ${new Date()}
      WHERE tenant_id = ${db.tenantId}::uuid
      RETURNING settings, public_slug, version, updated_at`);
    return present(row);
  });
