import { attemptEach, type PeriodicWork, startPeriodicWork } from '@tessera/background-work';
import type { Logger } from '@tessera/http-kit';
import type { Connections } from '../../database.ts';
import { deleteFailures } from './failures.repository.ts';

const EVERY_MS = 15 * 60_000;
const IMPORTS_AT_ONCE = 100;

/** Deletes the failed rows of imports that ended 30 days ago. Throws after the last one if some could not be deleted. */
export const deleteExpiredFailures = async (
  { pool, forTenant }: Connections,
  stopping?: AbortSignal,
): Promise<void> => {
  const { rows } = await pool.query<{ tenant_id: string; id: string }>(
    'SELECT tenant_id, id FROM tenant_crm.imports_with_expired_failures($1)',
    [IMPORTS_AT_ONCE],
  );
  await attemptEach(rows, {
    work: ({ tenant_id, id }) => deleteFailures(forTenant(tenant_id), id),
    failure: (count) => `the failed rows of ${count} imports were not deleted`,
    stopping,
  });
};

/** Deletes expired failed rows every quarter of an hour; that several replicas do is harmless. */
export const startFailureExpiry = (database: Connections, logger: Logger): PeriodicWork =>
  startPeriodicWork({
    everyMs: EVERY_MS,
    logger,
    failure: 'failed rows of imports were not deleted; the next round retries',
    work: (stopping) => deleteExpiredFailures(database, stopping),
  });
