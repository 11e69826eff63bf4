import type { TenantDb } from '../../database.ts';
import type { OutboxEvent } from '../../events/outbox-reader.ts';
import type { Caller } from '../../http.ts';
import type { Kind } from '../../records/kind.ts';
import { createRecords } from '../../records/records.ts';

/** A larger record is left out, so that requests stay small. In characters of JSON. */
const MAX_RECORD_LENGTH = 64 * 1024;

/** Whether everybody who may see the kind's records sees all of them: neither it nor a parent has a scope. */
export const isUnscoped = (kind: Kind): boolean =>
  kind.scope === undefined &&
  kind.hiddenHistory === undefined &&
  kind.permissions !== undefined &&
  (kind.parent === undefined || isUnscoped(kind.parent.kind));

/**
 * Returns the records of events as the API shows them, by their ids, without those that are deleted, private, or of no known
 * kind.
 */
export type ReadRecords = (
  events: readonly Pick<OutboxEvent, 'tableName' | 'recordId'>[],
) => Promise<ReadonlyMap<string, object>>;

/** Reads records in a transaction of their tenant. Kinds with a scope are never read, nor are those below others. */
export const createRecordReader =
  (kinds: readonly Kind[]) =>
  (db: TenantDb): ReadRecords => {
    const source = { forTenant: () => db };
    const shown = kinds.filter((kind) => isUnscoped(kind) && !kind.parent && kind.key === 'id');
    // Without a scope, a caller is only asked for their tenant.
    const caller = { tenantId: db.tenantId } as Caller;
    return async (events) => {
      const found = new Map<string, object>();
      for (const kind of shown) {
        const own = events.filter(({ tableName }) => tableName === kind.table);
        if (own.length === 0) continue;
        const ids = [...new Set(own.map(({ recordId }) => recordId))];
        const records = await createRecords(kind, source).getMany(caller, ids);
        for (const { id, answer } of records) found.set(id, answer);
      }
      return found;
    };
  };

/**
 * The body of the requests of an event, as Standard Webhooks recommends. A record of more than `maxRecordLength` characters is
 * left out.
 */
export const payloadOf = (
  event: OutboxEvent,
  record: object | undefined,
  maxRecordLength: number,
): string => {
  const { type, occurredAt, recordId, version, data } = event;
  const maxLength = Math.min(MAX_RECORD_LENGTH, maxRecordLength);
  const isSmall = record !== undefined && JSON.stringify(record).length <= maxLength;
  return JSON.stringify({
    type,
    timestamp: occurredAt.toISOString(),
    data: {
      id: recordId,
      version,
      changed: data.changed_fields,
      actor: {
        type: data.actor_type,
        user_id: data.user_id,
        client_id: data.client_id,
        impersonator_id: data.impersonator_id,
      },
      ...(isSmall && { record }),
    },
  });
};

/** The body of the requests of a test event. */
export const testPayload = (endpointId: string, at: Date): string =>
  JSON.stringify({
    type: 'webhook.test',
    timestamp: at.toISOString(),
    data: { endpoint_id: endpointId },
  });
