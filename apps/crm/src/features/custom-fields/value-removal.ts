import {
  attemptEach,
  onOneReplica,
  type PeriodicWork,
  startPeriodicWork,
} from '@tessera/background-work';
import type { Logger } from '@tessera/http-kit';
import { advisoryLocks, type Connections, type TenantDb } from '../../database.ts';
import { removeTakenValues } from '../contacts/merged-values.ts';
import {
  deletedDeclaration,
  forgetDeclaration,
  keepDeclaration,
  removeNextValues,
} from './custom-fields.repository.ts';

const BATCH = 1000;
const EVERY_MS = 10_000;

interface DeletedField {
  readonly tenant_id: string;
  readonly key: string;
}

/**
 * Removes the values of a deleted field and then its declaration; returns early if the process stops. Each transaction
 * verifies that the declaration is still there: a replica that was frozen may continue after another one has removed it, and
 * a new field may have the key by then.
 */
const removeField = async (
  db: TenantDb,
  key: string,
  stopping: AbortSignal | undefined,
): Promise<void> => {
  const id = await deletedDeclaration(db, key);
  if (id === undefined) return;
  let after: string | undefined;
  do {
    if (stopping?.aborted) return;
    const beyond = { after, limit: BATCH };
    after = await db.transaction(async (transaction) =>
      (await keepDeclaration(transaction, id))
        ? removeNextValues(transaction, key, beyond)
        : undefined,
    );
  } while (after !== undefined);
  await db.transaction(async (transaction) => {
    if (await forgetDeclaration(transaction, id)) await removeTakenValues(transaction, key);
  });
};

/**
 * Removes the values of deleted custom fields of all tenants, one transaction per batch. What is interrupted
 * continues in the next round: a declaration goes after the last of its values. Throws after the last field if some could
 * not be removed.
 */
export const removeValues = async (
  { pool, forTenant }: Pick<Connections, 'pool' | 'forTenant'>,
  stopping?: AbortSignal,
): Promise<void> => {
  const { rows } = await pool.query<DeletedField>(
    'SELECT tenant_id, key FROM tenant_crm.deleted_custom_fields(100)',
  );
  await attemptEach(rows, {
    work: ({ tenant_id, key }) => removeField(forTenant(tenant_id), key, stopping),
    failure: (count) => `the values of ${count} custom fields were not removed`,
    stopping,
  });
};

/** Removes the values of deleted custom fields, unless another replica is removing them. */
export const removeValuesOnOneReplica = async (
  database: Pick<Connections, 'pool' | 'forTenant'>,
  stopping: AbortSignal,
): Promise<void> => {
  await onOneReplica(database.pool, [advisoryLocks.valueRemoval, 0], (lost) =>
    removeValues(database, AbortSignal.any([stopping, lost])),
  );
};

/** Removes the values of deleted custom fields every ten seconds, on one replica at a time. */
export const startValueRemoval = (database: Connections, logger: Logger): PeriodicWork =>
  startPeriodicWork({
    everyMs: EVERY_MS,
    logger,
    failure: 'values of deleted custom fields were not removed; the next round retries',
    work: (stopping) => removeValuesOnOneReplica(database, stopping),
  });
