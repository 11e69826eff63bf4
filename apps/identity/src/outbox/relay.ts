import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '@tessera/http-kit';
import pg from 'pg';
import { advisoryLocks } from '../database.ts';
import { createBell } from './bell.ts';

/** A Kafka record to publish. */
export interface OutboxRecord {
  readonly topic: string;
  readonly key: string;
  /** A CloudEvent as JSON. */
  readonly value: string;
}

export interface RelayOptions {
  readonly connectionString: string;
  /** Resolves when the broker has accepted all of them, in this order for each key; rejects otherwise. */
  publish(records: readonly OutboxRecord[]): Promise<void>;
  readonly logger: Logger;
  /** How often to check without a notification, and how often a standby tries to take over. */
  readonly pollMs?: number;
  /** Maximum number of rows published at once. */
  readonly batch?: number;
}

export interface Relay {
  /** Ends after the batch in progress, and lets a standby take over. */
  stop(): Promise<void>;
}

const pending = `SELECT id, topic, key, payload::text AS value FROM identity.outbox
  WHERE published_at IS NULL ORDER BY id LIMIT $1`;
const mark = 'UPDATE identity.outbox SET published_at = now() WHERE id = ANY($1::bigint[])';

/** The server notices within half a minute that the host of the lock's holder is gone. */
const connectionOptions =
  '-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3';

/**
 * Publishes the events of the outbox to the broker, in the order of their ids. Of all relays of a database only
 * the one that holds the advisory lock works; the others stand by. A row is marked after the broker has accepted
 * it, so that an event is published at least once, whatever is killed.
 */
export const startRelay = (options: RelayOptions): Relay => {
  const { connectionString, publish, logger, pollMs = 1000, batch = 500 } = options;
  const bell = createBell();
  const stopping = new AbortController();

  /** Publishes and marks up to one batch; returns whether there may be more. */
  const publishBatch = async (client: pg.Client): Promise<boolean> => {
    // Not `id > last`: a smaller id can commit later.
    const { rows } = await client.query<OutboxRecord & { id: string }>(pending, [batch]);
    if (rows.length === 0) return false;
    await publish(rows.map(({ topic, key, value }) => ({ topic, key, value })));
    await client.query(mark, [rows.map(({ id }) => id)]);
    return rows.length === batch;
  };

  const takesLock = async (client: pg.Client): Promise<boolean> => {
    const { rows } = await client.query('SELECT pg_try_advisory_lock($1) AS taken', [
      advisoryLocks.relay,
    ]);
    return rows[0].taken;
  };

  /** Works on one connection, which holds the lock and LISTEN, until it fails or the relay stops. */
  const work = async (client: pg.Client, onProgress: () => void): Promise<void> => {
    // Reports a connection that fails between two queries; the next query then rejects.
    client.on('error', bell.ring);
    client.on('notification', bell.ring);
    await client.connect();
    await client.query('LISTEN outbox');
    let holds = false;
    while (!stopping.signal.aborted) {
      holds ||= await takesLock(client);
      const more = holds && (await publishBatch(client));
      onProgress();
      if (!more) await bell.wait(pollMs);
    }
  };

  const run = async (): Promise<void> => {
    let failures = 0;
    while (!stopping.signal.aborted) {
      const client = new pg.Client({
        connectionString,
        application_name: 'identity outbox relay',
        options: connectionOptions,
        connectionTimeoutMillis: 2000,
        query_timeout: 5000,
      });
      try {
        await work(client, () => {
          failures = 0;
        });
      } catch (error) {
        failures += 1;
        logger.warn({ err: error, failures }, 'the outbox waits: no database or no broker');
      } finally {
        // The connection releases the lock.
        await client.end().catch(() => undefined);
      }
      if (failures === 0) continue;
      const backoff = Math.min(100 * 2 ** failures, 5000) * (0.5 + Math.random() / 2);
      await pause(backoff, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };

  const ended = run();
  return {
    stop: () => {
      stopping.abort();
      bell.ring();
      return ended;
    },
  };
};
