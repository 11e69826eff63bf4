import { type EventData, type EventType, eventKey, identityEvent } from '@tessera/contracts';
import { currentTraceparent } from '@tessera/telemetry';
import { v7 as uuidv7 } from 'uuid';
import { advisoryLocks, type Transaction } from '../database.ts';

/** An event to publish: a type of `@tessera/contracts` and its data. */
export type NewEvent = {
  [T in EventType]: { readonly type: T; readonly data: EventData<T> };
}[EventType];

/**
 * Locks the tenant's policy version until the transaction ends. Every change of a tenant's policies starts with
 * this, so that such changes run one after the other.
 */
export const lockPolicyVersion = async (tx: Transaction, tenantId: string): Promise<void> => {
  await tx.$queryRaw`SELECT 1 FROM identity.policy_versions
    WHERE tenant_id = ${tenantId}::uuid FOR NO KEY UPDATE`;
};

/** Increments the tenant's policy version and returns it. The row stays locked until the transaction ends. */
export const bumpPolicyVersion = async (tx: Transaction, tenantId: string): Promise<number> => {
  const [row] = await tx.$queryRaw<{ version: bigint }[]>`
    UPDATE identity.policy_versions SET version = version + 1
    WHERE tenant_id = ${tenantId}::uuid RETURNING version`;
  if (!row) throw new Error(`Tenant ${tenantId} has no policy version.`);
  return Number(row.version);
};

/**
 * Waits until every other transaction with an event for these keys has ended, whatever row it changed, so that
 * ids are in commit order for each key (decision E2). Keys share a bounded number of locks, taken in a fixed
 * order: no deadlock, and events for ten thousand tenants fit into the server's lock table.
 */
const serializeByKey = async (tx: Transaction, keys: readonly string[]): Promise<void> => {
  await tx.$executeRaw`
    SELECT pg_advisory_xact_lock(${advisoryLocks.eventOrder}::int, bucket) FROM (
      SELECT DISTINCT hashtext(key) & 1023 AS bucket FROM unnest(${keys}::text[]) AS key ORDER BY bucket
    ) AS buckets`;
};

const written = new WeakSet<Transaction>();

/**
 * Writes events that are published when the transaction commits. Call it once per transaction, as its last
 * statement, so that the locks on their keys are held only briefly. Throws an Error if it is called twice, which
 * would take the locks of two calls in no fixed order, and a TypeError if the data does not match the type.
 */
export const enqueue = async (
  tx: Transaction,
  ...newEvents: readonly NewEvent[]
): Promise<void> => {
  if (written.has(tx)) throw new Error('A transaction must write its events in one call.');
  written.add(tx);
  const events = newEvents.map(({ type, data }) =>
    identityEvent(type, data, { id: uuidv7(), time: new Date() }),
  );
  await serializeByKey(tx, events.map(eventKey));
  const traceparent = currentTraceparent() ?? null;
  await tx.outboxEvent.createMany({
    data: events.map((event) => ({
      topic: event.type,
      key: eventKey(event),
      payload: event,
      traceparent,
    })),
  });
};
