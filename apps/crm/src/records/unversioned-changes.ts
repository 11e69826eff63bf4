import type { TenantDb } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { type Cause, type ChangedRecord, recordChanges } from './record-changes.ts';

const { sql, raw } = Prisma;

/** A change that makes no version of its record. */
interface UnversionedChange extends Pick<ChangedRecord, 'table' | 'changes'> {
  /** The record. */
  readonly id: string;
}

/**
 * Adds a change that makes no version of its record to the history, such as a new link to a document; has no effect if the
 * record does not exist. The record stays locked until the transaction ends. The version of such changes is that of the
 * one before, so each gets a time after it, however fast they follow.
 */
export const recordUnversioned = (
  db: TenantDb,
  cause: Cause,
  { table, id, changes }: UnversionedChange,
): Promise<void> =>
  db.transaction(async (tx) => {
    const one = sql`${raw(`tenant_crm.${table}`)}
      WHERE tenant_id = ${db.tenantId}::uuid AND id = ${id}::uuid`;
    // In a statement of its own: the next one then sees what the transactions before this one have added.
    await tx.query(sql`SELECT id FROM ${one} FOR NO KEY UPDATE`);
    // greatest() ignores null, which a record without a history has.
    const at = sql`greatest(clock_timestamp(), (
      SELECT max(changed_at) FROM tenant_crm.record_changes
      WHERE tenant_id = ${db.tenantId}::uuid AND table_name = ${table} AND record_id = ${id}::uuid
    ) + interval '1 millisecond')`;
    const from = sql`(SELECT id, version FROM ${one}) AS unchanged`;
    await tx.query(recordChanges(tx, cause, { table, from, changes, at }));
  });
