import pg from 'pg';

export interface WatchOptions {
  /** How long a connection may be in use before the server is asked whether it answers at all, in milliseconds. */
  readonly probeAfterMs: number;
  /** How long the server may take to accept a connection, and then to answer, in milliseconds. */
  readonly probeTimeoutMs: number;
  /** Hears that connections were closed because the server does not answer. */
  readonly onStalled: (error: Error) => void;
}

/** The part of a pooled client that ends it without waiting for the server. */
interface Destroyable {
  readonly connection: { readonly stream: { destroy(error?: Error): unknown } };
}

/** Whether the server was not asked: its name could not be resolved, or this process has no file descriptor left. */
const isNotAsked = (error: unknown): boolean => {
  const { syscall, code } = error as { readonly syscall?: unknown; readonly code?: unknown };
  return syscall === 'getaddrinfo' || code === 'EMFILE' || code === 'ENFILE';
};

/**
 * Whether a new connection answers `SELECT 1`. An error of the server, such as too many connections, is an answer. A
 * server that could not be asked counts as responding: established connections do not need its name.
 */
const isResponding = async (config: pg.ClientConfig, timeoutMs: number): Promise<boolean> => {
  const client = new pg.Client({
    ...config,
    application_name: 'liveness check',
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  });
  client.on('error', () => {}); // The call that is under way reports it.
  try {
    await client.connect();
    await client.query('SELECT 1');
    return true;
  } catch (error) {
    return error instanceof pg.DatabaseError || isNotAsked(error);
  } finally {
    (client as unknown as Destroyable).connection.stream.destroy();
  }
};

/**
 * Closes the connections of a pool whose server has stopped answering (a stopped process, a network that drops
 * packets), so that what waits for them fails with `Connection terminated` after `probeAfterMs` + `probeTimeoutMs`
 * (twice that if the server still accepts connections), and at most a second more. A statement that merely takes
 * long goes on: meanwhile the server answers others. `config` must lead to the server itself: a pooler makes a new
 * client wait when all of its connections are busy.
 */
export const closeStalledConnections = (
  pool: pg.Pool,
  config: pg.ClientConfig,
  { probeAfterMs, probeTimeoutMs, onStalled }: WatchOptions,
): void => {
  /** The connections in use, and since when. */
  const used = new Map<pg.PoolClient, number>();
  let timer: NodeJS.Timeout | undefined;
  let isProbing = false;

  const usedBefore = (time: number): pg.PoolClient[] =>
    [...used].filter(([, since]) => since <= time).map(([client]) => client);

  const check = async (): Promise<void> => {
    if (used.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
    const asked = performance.now();
    if (isProbing || usedBefore(asked - probeAfterMs).length === 0) return;
    isProbing = true;
    try {
      if (await isResponding(config, probeTimeoutMs)) return;
      const message = 'Connection terminated: the database does not answer';
      const error = Object.assign(new Error(message), { code: 'ETIMEDOUT' });
      onStalled(error);
      for (const client of usedBefore(asked)) {
        (client as unknown as Destroyable).connection.stream.destroy(error);
      }
    } finally {
      isProbing = false;
    }
  };

  pool.on('acquire', (client) => {
    used.set(client, performance.now());
    timer ??= setInterval(() => void check(), Math.min(1000, probeAfterMs)).unref();
  });
  pool.on('release', (_error, client) => used.delete(client));
};
