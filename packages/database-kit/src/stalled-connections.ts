import pg from 'pg';

export interface WatchOptions {
  /** Milliseconds that a connection may be in use before the server is probed. */
  readonly probeAfterMs: number;
  /** Milliseconds that the server may take to accept the probe's connection, and then to answer. */
  readonly probeTimeoutMs: number;
  /** Called when connections were closed because the server does not respond. */
  readonly onStalled: (error: Error) => void;
}

/** The members of a pooled client that close it without waiting for the server. */
interface Destroyable {
  readonly connection: { readonly stream: { destroy(error?: Error): unknown } };
}

/** Whether the probe did not reach the server: its name could not be resolved, or no file descriptor was left. */
const hasNotReachedServer = (error: unknown): boolean => {
  const { syscall, code } = error as { readonly syscall?: unknown; readonly code?: unknown };
  return syscall === 'getaddrinfo' || code === 'EMFILE' || code === 'ENFILE';
};

const TICK_MS = 100;

/**
 * The result of a promise; rejects if it takes longer than `ms`. Time in which the event loop is blocked does not count:
 * the answer may have arrived, but could not be read.
 */
const withTimeout = async <T>(promise: Promise<T>, ms: number): Promise<T> => {
  const tickMs = Math.min(TICK_MS, ms);
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_, reject) => {
    let left = ms;
    // However long the event loop was blocked, the timer fires once.
    timer = setInterval(() => {
      left -= tickMs;
      if (left <= 0) reject(new Error(`The database has not answered within ${ms} ms.`));
    }, tickMs);
  });
  try {
    return await Promise.race([promise, expired]);
  } finally {
    clearInterval(timer);
  }
};

/**
 * Whether a new connection answers `SELECT 1`. An error from the server, such as too many connections, is an answer.
 * A probe that did not reach the server says nothing about established connections, so the server counts as responding.
 */
const isResponding = async (config: pg.ClientConfig, timeoutMs: number): Promise<boolean> => {
  const client = new pg.Client({ ...config, application_name: 'liveness check' });
  client.on('error', () => {}); // The pending call reports it.
  try {
    await withTimeout(client.connect(), timeoutMs);
    await withTimeout(client.query('SELECT 1'), timeoutMs);
    return true;
  } catch (error) {
    return error instanceof pg.DatabaseError || hasNotReachedServer(error);
  } finally {
    (client as unknown as Destroyable).connection.stream.destroy();
  }
};

/**
 * Closes the connections of a pool whose server has stopped responding (a stopped process, a network that drops
 * packets). Pending queries then fail with `Connection terminated` after `probeAfterMs` + `probeTimeoutMs` (twice
 * the latter if the server still accepts connections) and at most one more second. A slow statement is not affected,
 * because the server still answers the probe. `config` must be that of the server itself: a pooler makes new clients
 * wait while all of its connections are busy.
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
      const message = 'Connection terminated: the database does not respond';
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
