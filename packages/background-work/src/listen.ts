import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '@tessera/http-kit';
import pg from 'pg';

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

  /** Resolves after `ms`, at once when the listener stops. */
  const wait = (ms: number): Promise<void> =>
    pause(ms, undefined, { signal }).catch(() => undefined);

  const receive = async (client: pg.Client, onConnected: () => void): Promise<void> => {
    const broken = new Promise<never>((_, reject) => {
      client.on('error', reject);
      client.on('end', () => reject(new Error('The database closed the connection.')));
    });
    // Without this handler, a rejection before the first `await` below would end the process.
    broken.catch(() => undefined);
    client.on('notification', ({ payload = '' }) => {
      if (!signal.aborted) options.onNotification(payload);
    });
    await client.connect();
    await client.query(`LISTEN ${pg.escapeIdentifier(channel)}`);
    onConnected();
    options.onListening?.();
    while (!signal.aborted) {
      await Promise.race([wait(checkMs), broken]);
      // A firewall may drop an idle connection silently; only a query detects that.
      if (!signal.aborted) await client.query('SELECT 1');
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
        await client.end().catch(() => undefined);
      }
      await wait(Math.min(100 * 2 ** failures, MAX_BACKOFF_MS) * (0.5 + Math.random() / 2));
    }
  };

  const ended = run();
  return {
    stop() {
      stopping.abort();
      return ended;
    },
  };
};
