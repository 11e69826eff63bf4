import type { TenantDb } from '../database.ts';
import type { Kind } from './kind.ts';

/** How many rows an export reads per batch, which keeps the event loop for some milliseconds, and how many if their texts are long. */
const BATCH = 200;
const BATCH_OF_LONG = 50;

/** How many values of fields that the tenant declares a batch may have: a row may have a hundred long ones. */
const DECLARED_VALUES = 5000;

/** The number of rows per batch of an export, so that a batch of the longest possible rows fits into memory. */
export const exportBatchSize = async (
  { omittedFromLists, tenantFields }: Pick<Kind, 'omittedFromLists' | 'tenantFields'>,
  db: TenantDb,
): Promise<number> => {
  if (omittedFromLists.length > 0) return BATCH_OF_LONG;
  const declared = (await tenantFields?.declared(db)) ?? [];
  return Math.min(BATCH, Math.ceil(DECLARED_VALUES / Math.max(declared.length, 1)));
};
