import type { TenantDb } from '../../database.ts';
import { findSettings } from './settings.repository.ts';
import type { Settings } from './settings.schema.ts';

/**
 * The settings of a tenant, for rules of other features: within a transaction, `db` is that transaction. Costs
 * one indexed statement.
 */
export const readSettings = async (db: TenantDb): Promise<Settings> =>
  (await findSettings(db)).settings;
