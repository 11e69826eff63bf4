import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '@tessera/http-kit';
import pg from 'pg';
import { closeConnection } from './close-connection.ts';

export interface ListenOptions {
  /** The URL of the database itself: LISTEN does not work through PgBouncer in transaction mode. */
  readonly directUrl: string;
  /** The application name in `pg_stat_activity`. */
  readonly applicationName: string;
  readonly channel: string;
  readonly logger: Logger;
  onNotification(payload: string): void;
  /**
   * Called after every (re)connection. Notifications sent while the connection was down are lost, so read
   * here what they would have announced.
   */
  onListening?(): void;
  /** How often the connection is checked, in milliseconds. Default 10,000. */
  readonly checkMs?: number;
}

export interface Listener {
  /** Closes the connection; no notification arrives afterwards. */
  stop(): Promise<void>;
}

const CONNECT_LIMIT_MS = 2000;
const QUERY_LIMIT_MS = 5000;
const MAX_BACKOFF_MS = 5000;

/** Listens to one channel on a separate connection, and reconnects whenever that breaks. */
export const listen = (options: ListenOptions): Listener => {
  const { directUrl, applicationName, channel, logger, checkMs = 10_000 } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  /** Aborted when the current connection breaks, with the error, and when the listener stops. */
  let connection = new AbortController();

  /** Resolves after `ms`, at once when the signal is aborted. */
  const wait = (ms: number, ending: AbortSignal): Promise<void> =>
    pause(ms, undefined, { signal: ending }).catch(() => undefined);

  const receive = async (client: pg.Client, onConnected: () => void): Promise<void> => {
    const current = new AbortController();
    connection = current;
    client.on('error', (error) => current.abort(error));
    client.on('end', () => current.abort(new Error('The database closed the connection.')));
    client.on('notification', ({ payload = '' }) => {
      if (!signal.aborted) options.onNotification(payload);
    });
    await client.connect();
    await client.query(`LISTEN ${pg.escapeIdentifier(channel)}`);
    onConnected();
    options.onListening?.();
    while (!signal.aborted) {
      // Not a race against a promise of the connection: each race would stay in memory until that settles.
      await wait(checkMs, current.signal);
      if (signal.aborted) return;
      current.signal.throwIfAborted();
      // A firewall may drop an idle connection silently; only a query detects that.
      await client.query('SELECT 1');
    }
  };

  const run = async (): Promise<void> => {
    let failures = 0;
    while (!signal.aborted) {
      const client = new pg.Client({
        connectionString: directUrl,
        application_name: applicationName,
        connectionTimeoutMillis: CONNECT_LIMIT_MS,
        query_timeout: QUERY_LIMIT_MS,
        keepAlive: true,
      });
      try {
        await receive(client, () => {
          failures = 0;
        });
      } catch (err) {
        failures += 1;
        if (!signal.aborted) logger.warn({ err, channel, failures }, 'LISTEN failed; reconnecting');
      } finally {
        await closeConnection(client);
      }
      await wait(Math.min(100 * 2 ** failures, MAX_BACKOFF_MS) * (0.5 + Math.random() / 2), signal);
    }
  };

  const ended = run();
  return {
    stop() {
      stopping.abort();
      connection.abort();
      return ended;
    },
  };
};
