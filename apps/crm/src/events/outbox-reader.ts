import { type ExclusiveWorker, startExclusiveWorker } from '@tessera/background-work';
import type { CrmEventData, CrmEventResource, CrmEventType } from '@tessera/contracts';
import {
  columnTypes,
  type TenantsInTransaction,
  tenantsInTransaction,
} from '@tessera/database-kit';
import type { Logger } from '@tessera/http-kit';
import type pg from 'pg';
import { advisoryLocks, type DatabaseOptions, tenantAccess } from '../database.ts';
import { eventOf, withoutEvents } from './event-types.ts';
import { BEFORE_ALL_TENANTS, lastInTurn } from './outbox-turns.ts';
import { isRefusal } from './refused-events.ts';

/** Where events go. */
export const sinks = ['kafka', 'webhooks'] as const;
export type Sink = (typeof sinks)[number];

/** A change of a record that a sink has yet to take. */
export interface OutboxEvent {
  /** The same for all sinks, and whenever the event is sent again. */
  readonly id: string;
  readonly tenantId: string;
  /** Such as `crm.contacts.updated`. */
  readonly type: CrmEventType;
  readonly resource: CrmEventResource;
  readonly tableName: string;
  readonly recordId: string;
  /** The version of the record that the change made. */
  readonly version: number;
  readonly occurredAt: Date;
  readonly data: EventSource;
}

/** Who made the change, and which fields it changed. */
export interface EventSource {
  /** `user`, `service_account`, `client`, or `system`. */
  readonly actor_type: CrmEventData['actor']['type'];
  readonly user_id: string | null;
  readonly client_id: string | null;
  readonly impersonator_id: string | null;
  /** Empty for creations and deletions. */
  readonly changed_fields: readonly string[];
  /** The span in which the change was made; absent if none is recorded. */
  readonly traceparent?: string;
}

export interface OutboxReaderOptions {
  readonly database: Pick<DatabaseOptions, 'rowSecurity' | 'publishesEvents'> & {
    readonly directUrl: string;
  };
  readonly logger: Logger;
  readonly sink: Sink;
  /** Maximum number of events at once. Default 500. */
  readonly batch?: number;
  /** How often to look for events without a notification, in milliseconds. Default 1000. */
  readonly pollMs?: number;
  /**
   * Takes events, those of one record in the order of their commits. They are deleted in the transaction `tx`,
   * together with what `handle` writes to tenants' rows; if it rejects, the same events come again, fewer at a time. A process can be
   * killed after it resolves and before the commit, so effects elsewhere may be repeated. Before each of these, `confirm`
   * rejects if another replica has taken over.
   */
  handle(
    events: readonly OutboxEvent[],
    tx: Pick<TenantsInTransaction, 'forTenant'>,
    confirm: () => Promise<unknown>,
  ): Promise<void>;
}

interface Row {
  readonly tenant_id: string;
  readonly position: number;
  readonly event_id: string;
  readonly table_name: string;
  readonly record_id: string;
  readonly version: number;
  readonly action: string;
  readonly occurred_at: Date;
  readonly data: EventSource;
}

/** The event of a row; undefined for a change that no event type describes. */
const outboxEventOf = (row: Row): OutboxEvent | undefined => {
  const description = eventOf(row.table_name, row.action);
  return description === undefined
    ? undefined
    : {
        id: row.event_id,
        tenantId: row.tenant_id,
        type: description.type,
        resource: description.resource,
        tableName: row.table_name,
        recordId: row.record_id,
        version: row.version,
        occurredAt: row.occurred_at,
        // The history of a deletion may have the last values of the record, which are no changes.
        data:
          description.action === 'delete'
            ? Object.assign({}, row.data, { changed_fields: [] })
            : row.data,
      };
};

/**
 * Hands the outbox of one sink to `handle`, in one replica at a time. Woken by NOTIFY; retries with backoff while
 * `handle` or the database fails. After a failure, it hands over half as many events, and an event that is refused by
 * itself is set aside: it stays in the table, and does not delay others. Tenants get turns, so that none waits for all
 * events of another. Each sink has its own rows and connection, so none delays another.
 */
export const startOutboxReader = (options: OutboxReaderOptions): ExclusiveWorker => {
  const { database, logger, sink, batch = 500, handle } = options;
  let size = batch;
  let after = BEFORE_ALL_TENANTS;

  const take = async (client: pg.Client, rows: readonly Row[]): Promise<void> => {
    const events = rows.flatMap((row) => outboxEventOf(row) ?? []);
    const tx = tenantsInTransaction(client, tenantAccess(database));
    await client.query('BEGIN');
    if (events.length > 0) await handle(events, tx, () => client.query('SELECT 1'));
    await tx.leaveTenant();
    await client.query('SELECT tenant_crm.delete_from_outbox($1, $2)', [
      sink,
      rows.map(({ position }) => position),
    ]);
    await client.query('COMMIT');
  };

  const setAside = async (client: pg.Client, row: Row, err: unknown): Promise<void> => {
    const { tenant_id, event_id, table_name, action, position } = row;
    logger.error({ err, sink, tenant_id, event_id, table_name, action }, 'an event is set aside');
    const reason = (err instanceof Error ? err.message : String(err)).slice(0, 500);
    await client.query('SELECT tenant_crm.set_aside_in_outbox($1, $2, $3)', [
      sink,
      position,
      reason.replaceAll('\0', ''),
    ]);
  };

  const handleNext = async (client: pg.Client): Promise<boolean> => {
    // Always from the first row of a tenant, not after the last one taken: a row with a smaller position can commit later.
    const { rows } = await client.query<Row>({
      name: 'next_in_outbox',
      text: 'SELECT * FROM tenant_crm.next_in_outbox($1, $2, $3) ORDER BY position',
      values: [sink, after, size],
    });
    const [first] = rows;
    if (!first) return false;
    const unknown = rows.filter((row) => !outboxEventOf(row) && !withoutEvents[row.table_name]);
    for (const { table_name, action } of unknown) {
      logger.error({ table_name, action }, 'a change has no type of event, and is not sent');
    }
    try {
      await take(client, rows);
    } catch (error) {
      // The turns stay where they are: the next batch has a part of these rows, so that a refused one is found.
      size = Math.ceil(rows.length / 2);
      // Without a backoff only if it makes progress: the worker then continues on a new connection.
      if (!isRefusal(error)) throw error;
      await client.query('ROLLBACK');
      if (rows.length === 1) {
        await setAside(client, first, error);
        // Other tenants get their turn before more events of this one are set aside.
        after = first.tenant_id;
      }
      return true;
    }
    const served = rows.map((row) => row.tenant_id);
    after = lastInTurn(served, after);
    const isFull = rows.length >= size;
    size = Math.min(batch, size * 2);
    return isFull;
  };

  return startExclusiveWorker({
    directUrl: database.directUrl,
    applicationName: `crm outbox ${sink}`,
    lock: [advisoryLocks.outbox, sinks.indexOf(sink)],
    channel: 'crm_outbox',
    logger,
    failure: `events for ${sink} wait in the outbox`,
    pollMs: options.pollMs,
    types: columnTypes,
    work: handleNext,
  });
};
