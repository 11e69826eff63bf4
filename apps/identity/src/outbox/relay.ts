import { type ExclusiveWorker, startExclusiveWorker } from '@tessera/background-work';
import { inGroups } from '@tessera/event-bus';
import type { Logger } from '@tessera/http-kit';
import type pg from 'pg';
import { advisoryLocks } from '../database.ts';

/** A Kafka record to publish. */
export interface OutboxRecord {
  readonly topic: string;
  readonly key: string;
  /** A CloudEvent as JSON. */
  readonly value: string;
  /** The trace of the request that caused the event. */
  readonly headers?: { readonly traceparent: string };
}

export interface RelayOptions {
  readonly connectionString: string;
  /** Resolves when the broker has accepted all of them, in this order for each key; rejects otherwise. */
  publish(records: readonly OutboxRecord[]): Promise<void>;
  readonly logger: Logger;
  /** How often to check without a notification, and how often a standby tries to take over. */
  readonly pollMs?: number;
  /** Maximum number of rows read at once. */
  readonly batch?: number;
}

/** A relay ends after the batch in progress, and lets a standby take over. */
export type Relay = ExclusiveWorker;

interface PendingRow {
  readonly id: string;
  readonly topic: string;
  readonly key: string;
  readonly value: string;
  readonly traceparent: string | null;
}

const recordOf = ({ topic, key, value, traceparent }: PendingRow): OutboxRecord => ({
  topic,
  key,
  value,
  ...(traceparent && { headers: { traceparent } }),
});

const pending = `SELECT id, topic, key, payload::text AS value, traceparent FROM identity.outbox
  WHERE published_at IS NULL ORDER BY id LIMIT $1`;
const mark = 'UPDATE identity.outbox SET published_at = now() WHERE id = ANY($1::bigint[])';

/**
 * Publishes the events of the outbox to the broker, in the order of their ids. Of all relays of a database only
 * the one that holds the advisory lock works; the others stand by. A row is marked after the broker has accepted
 * it, so that an event is published at least once, whatever is killed. Tenants have no shares: their events need requests, which
 * are limited, and a batch takes no longer than an answer of the broker.
 */
export const startRelay = (options: RelayOptions): Relay => {
  const { connectionString, publish, logger, pollMs, batch = 500 } = options;
  return startExclusiveWorker({
    directUrl: connectionString,
    applicationName: 'identity outbox relay',
    lock: [advisoryLocks.relay],
    channel: 'outbox',
    logger,
    failure: 'the outbox waits: no database or no broker',
    pollMs,
    async work(client: pg.Client) {
      // Not `id > last`: a smaller id can commit later.
      const { rows } = await client.query<PendingRow>(pending, [batch]);
      if (rows.length === 0) return false;
      for (const group of inGroups(rows)) {
        await publish(group.map(recordOf));
        await client.query(mark, [group.map(({ id }) => id)]);
      }
      return rows.length === batch;
    },
  });
};
