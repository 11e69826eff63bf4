import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '@tessera/http-kit';
import pg from 'pg';
import { createBell } from './bell.ts';
import { closeConnection } from './close-connection.ts';
import { BEAT_MS, LEASE_MS } from './lease.ts';

export interface ExclusiveWorkerOptions {
  /** The URL of the database itself: neither LISTEN nor the lock works through PgBouncer in transaction mode. */
  readonly directUrl: string;
  /** The application name in `pg_stat_activity`. */
  readonly applicationName: string;
  /** Of all workers with this advisory lock (one or two numbers), only one works. */
  readonly lock: readonly [number] | readonly [classId: number, objectId: number];
  /** A notification on this channel wakes the worker. */
  readonly channel: string;
  readonly logger: Logger;
  /** The log message when the work or the connection fails. */
  readonly failure: string;
  /** How often to look for work without a notification, and how often a standby tries to take over. Default 1000. */
  readonly pollMs?: number | undefined;
  /** Parsers of column types. Default: those of `pg`. */
  readonly types?: pg.CustomTypesConfig | undefined;
  /**
   * One step of the work, on the connection that holds the lock; returns whether there may be more. After a failure,
   * the worker continues on a new connection. A query fails once the lock is lost, so each effect elsewhere follows one
   * directly, and takes 2 s at most: the server closes a connection that is silent for longer than the lease.
   */
  work(client: pg.Client): Promise<boolean>;
}

export interface ExclusiveWorker {
  /** Ends after the step in progress, and lets a standby take over. */
  stop(): Promise<void>;
}

const CONNECT_LIMIT_MS = 2000;
const QUERY_LIMIT_MS = 5000;
const MAX_BACKOFF_MS = 5000;

const CONNECTION_OPTIONS = [
  `-c idle_session_timeout=${LEASE_MS} -c idle_in_transaction_session_timeout=${LEASE_MS}`,
  // A statement that waits for another lock, and an answer that the holder does not read.
  `-c statement_timeout=${QUERY_LIMIT_MS} -c tcp_user_timeout=${LEASE_MS}`,
  '-c TimeZone=UTC',
].join(' ');

/**
 * Repeats work in one process at a time: the one whose connection holds the advisory lock. The others stand by, and take
 * over within seconds if it is gone, frozen or unreachable. The lock, LISTEN and the work share one connection, so that
 * work which loses its lock also loses its transaction.
 */
export const startExclusiveWorker = (options: ExclusiveWorkerOptions): ExclusiveWorker => {
  const { directUrl, channel, lock, logger, pollMs = 1000 } = options;
  const bell = createBell();
  const stopping = new AbortController();

  const takesLock = async (client: pg.Client): Promise<boolean> => {
    const numbers = lock.map(
      (_, index) => `$${index + 1}::${lock.length === 1 ? 'bigint' : 'int'}`,
    );
    const { rows } = await client.query(
      `SELECT pg_try_advisory_lock(${numbers.join(', ')}) AS taken`,
      [...lock],
    );
    return rows[0].taken;
  };

  /** Works on one connection until it fails or the worker stops. */
  const workOn = async (client: pg.Client, onProgress: () => void): Promise<void> => {
    // Reports a connection that fails between two queries; the next query then rejects.
    client.on('error', bell.ring);
    client.on('notification', bell.ring);
    await client.connect();
    await client.query(`LISTEN ${pg.escapeIdentifier(channel)}`);
    let holds = false;
    while (!stopping.signal.aborted) {
      holds ||= await takesLock(client);
      const more = holds && (await options.work(client));
      onProgress();
      if (!more) await pause(client);
    }
  };

  /** Waits for a notification or the next poll, and renews the lease meanwhile. */
  const pause = async (client: pg.Client): Promise<void> => {
    for (let left = pollMs; left > 0; left -= BEAT_MS) {
      if (await bell.wait(Math.min(left, BEAT_MS))) return;
      if (left > BEAT_MS) await client.query('SELECT 1');
    }
  };

  const run = async (): Promise<void> => {
    let failures = 0;
    while (!stopping.signal.aborted) {
      const client = new pg.Client({
        connectionString: directUrl,
        application_name: options.applicationName,
        options: CONNECTION_OPTIONS,
        connectionTimeoutMillis: CONNECT_LIMIT_MS,
        query_timeout: QUERY_LIMIT_MS,
        ...(options.types && { types: options.types }),
      });
      try {
        await workOn(client, () => {
          failures = 0;
        });
      } catch (error) {
        failures += 1;
        logger.warn({ err: error, failures }, options.failure);
      } finally {
        // The connection releases the lock.
        await closeConnection(client);
      }
      if (failures === 0) continue;
      const backoff = Math.min(100 * 2 ** failures, MAX_BACKOFF_MS) * (0.5 + Math.random() / 2);
      await delay(backoff, undefined, { signal: stopping.signal }).catch(() => undefined);
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
