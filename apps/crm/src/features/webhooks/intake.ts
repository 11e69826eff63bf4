import type { TenantDb } from '../../database.ts';
import type { OutboxEvent } from '../../events/outbox-reader.ts';
import { Backlog, countWaiting } from './backlog.ts';
import { insertDeliveries, type NewDelivery } from './deliveries.repository.ts';
import type { Disable } from './disabling.ts';
import { addMissed, lockLiveEndpoints } from './endpoints.repository.ts';
import { isSelected } from './event-selectors.ts';
import { payloadOf, type ReadRecords } from './payload.ts';
import type { Wake } from './wake.ts';

/** What turns events into deliveries. */
export interface IntakeDependencies {
  readonly recordReader: (db: TenantDb) => ReadRecords;
  readonly wake: Wake;
  readonly disable: Disable;
  /** How many deliveries of a tenant may wait. */
  readonly mostWaiting?: number;
}

/** How much is inserted in one statement, in characters of payloads: an endpoint can get many large records. */
const MAX_INSERTED_LENGTH = 2_000_000;

const byTenant = (events: readonly OutboxEvent[]): ReadonlyMap<string, readonly OutboxEvent[]> => {
  const groups = new Map<string, OutboxEvent[]>();
  for (const event of events) {
    const own = groups.get(event.tenantId);
    if (own) own.push(event);
    else groups.set(event.tenantId, [event]);
  }
  return groups;
};

/** Adds the deliveries of one tenant's events, as far as there is room. */
const takeOfTenant = async (
  db: TenantDb,
  events: readonly OutboxEvent[],
  { recordReader, wake, disable, mostWaiting }: IntakeDependencies,
): Promise<void> => {
  const endpoints = await lockLiveEndpoints(db);
  const taken = events.flatMap((event) => {
    const takers = endpoints.filter(({ event_types }) => isSelected(event_types, event.type));
    return takers.length > 0 ? [{ event, takers }] : [];
  });
  if (taken.length === 0) return;
  // In one statement for each table: there are many after an import.
  const records = await recordReader(db)(taken.map(({ event }) => event));
  const backlog = new Backlog(await countWaiting(db), mostWaiting);
  const woken = new Set<string>();
  const missed = new Map<string, number>();
  let deliveries: NewDelivery[] = [];
  let length = 0;
  const insert = async (): Promise<void> => {
    if (deliveries.length > 0) await insertDeliveries(db, deliveries);
    deliveries = [];
    length = 0;
  };
  for (const { event, takers } of taken) {
    const { id, type, recordId } = event;
    const payload = payloadOf(event, records.get(recordId), backlog.maxRecordLength);
    const of = { event_id: id, event_type: type, record_id: recordId, payload };
    for (const { id: endpoint_id, is_enabled: isEnabled } of takers) {
      if (!isEnabled || !backlog.take(endpoint_id)) {
        missed.set(endpoint_id, (missed.get(endpoint_id) ?? 0) + 1);
        continue;
      }
      deliveries.push(Object.assign({ endpoint_id }, of));
      woken.add(endpoint_id);
      length += payload.length;
      if (length >= MAX_INSERTED_LENGTH) await insert();
    }
  }
  await insert();
  for (const [endpointId, count] of missed) {
    await disable(db, endpointId, 'backlog');
    await addMissed(db, endpointId, count);
    woken.delete(endpointId);
  }
  for (const endpointId of woken) await wake(db, endpointId);
};

/** Turns events into deliveries, in the transaction that removes them from the outbox. */
export const takeEvents = async (
  events: readonly OutboxEvent[],
  tx: { forTenant(tenantId: string): TenantDb },
  dependencies: IntakeDependencies,
): Promise<void> => {
  // In one order, so that transactions do not wait for each other in a circle.
  const tenants = [...byTenant(events)].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [tenantId, own] of tenants) {
    await takeOfTenant(tx.forTenant(tenantId), own, dependencies);
  }
};
