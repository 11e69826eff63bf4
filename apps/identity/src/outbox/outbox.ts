import { type EventData, type EventType, eventKey, identityEvent } from '@tessera/contracts';
import { v7 as uuidv7 } from 'uuid';
import { advisoryLocks, type Transaction } from '../database.ts';

/** What happened: a kind of event of `@tessera/contracts`, and its data. */
export type News = {
  [T in EventType]: { readonly type: T; readonly data: EventData<T> };
}[EventType];

/**
 * Locks the tenant's policy version until the transaction ends: what may change a tenant's policies begins
 * with it, so that such changes come one after the other.
 */
export const lockPolicyVersion = async (tx: Transaction, tenantId: string): Promise<void> => {
  await tx.$queryRaw`SELECT 1 FROM identity.policy_versions
    WHERE tenant_id = ${tenantId}::uuid FOR NO KEY UPDATE`;
};

/**
 * Raises the tenant's policy version and gives the new one. The row stays locked until the transaction
 * ends.
 */
export const bumpPolicyVersion = async (tx: Transaction, tenantId: string): Promise<number> => {
  const [row] = await tx.$queryRaw<{ version: bigint }[]>`
    UPDATE identity.policy_versions SET version = version + 1
    WHERE tenant_id = ${tenantId}::uuid RETURNING version`;
  if (!row) throw new Error(`Tenant ${tenantId} has no policy version.`);
  return Number(row.version);
};

/**
 * Waits until every other transaction with an event of these keys has ended, whatever row it changed:
 * so the order of ids is the order of commits per key (decision E2), for users as for tenants. Keys
 * share a bounded number of locks, taken in one order: no deadlock, and an event for each of ten
 * thousand tenants fits into the server's table of locks.
 */
const takeTurns = async (tx: Transaction, keys: readonly string[]): Promise<void> => {
  await tx.$executeRaw`
    SELECT pg_advisory_xact_lock(${advisoryLocks.eventOrder}::int, turn) FROM (
      SELECT DISTINCT hashtext(key) & 1023 AS turn FROM unnest(${keys}::text[]) AS key ORDER BY turn
    ) AS turns`;
};

/**
 * Writes events that leave with the transaction. Call it once, as the last statement: whoever waits for
 * a turn holds up nobody who has one. Throws a TypeError where the data does not fit the kind.
 */
export const enqueue = async (tx: Transaction, ...news: readonly News[]): Promise<void> => {
  const events = news.map(({ type, data }) =>
    identityEvent(type, data, { id: uuidv7(), time: new Date() }),
  );
  await takeTurns(tx, events.map(eventKey));
  await tx.outboxEvent.createMany({
    data: events.map((event) => ({ topic: event.type, key: eventKey(event), payload: event })),
  });
};
