import type { TenantDb } from '../../database.ts';
import { findSettings, type VersionedSettings } from './settings.repository.ts';
import type { Settings } from './settings.schema.ts';

/**
 * The settings of a tenant, for rules of other features: within a transaction, `db` is that transaction. Costs
 * one indexed statement.
 */
export const readSettings = async (db: TenantDb): Promise<Settings> =>
  (await findSettings(db)).settings;

/** The settings of a tenant, and when one was last changed. Costs the same as `readSettings`. */
export const readDatedSettings = (
  db: TenantDb,
): Promise<Pick<VersionedSettings, 'settings' | 'updatedAt'>> => findSettings(db);
