import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

/** A session of PostgreSQL that holds a lock. Its statement is left out, because it may contain personal data. */
interface Holder {
  readonly pid: number;
  readonly application: string;
  readonly state: string | null;
  /** When its transaction began. */
  readonly since: Date | null;
}

/** The part of a logger that reports waits. */
export interface LockLog {
  warn(what: object, message: string): void;
}

export interface LockLimits {
  /** How long a statement waits for a lock while requests wait behind it, in milliseconds. */
  readonly timeoutMs: number;
  /** How long it is tried again, in milliseconds. */
  readonly maxWaitMs: number;
  /** The first pause between two attempts, in milliseconds; it doubles up to `maxPauseMs`. */
  readonly pauseMs: number;
  /** Shorter than the time after which PostgreSQL takes the process for frozen. */
  readonly maxPauseMs: number;
}

export const lockLimits: LockLimits = {
  timeoutMs: 500,
  maxWaitMs: 600_000,
  pauseMs: 500,
  maxPauseMs: 5000,
};

const RETRIED = new Set([
  '55P03', // lock_not_available
  '40P01', // deadlock_detected
]);

const HOLDER = `a.pid, coalesce(nullif(a.application_name, ''), a.backend_type, '') AS application,
  a.state, a.xact_start AS since`;

/** How long a statement runs before it is observed, and how often it is from then on, in milliseconds. */
const OBSERVE_MS = 150;
/** How often a wait is logged again, in milliseconds. */
const LOG_EVERY_MS = 30_000;

/** The locks of a transaction were not granted in time, and it was rolled back. */
export class LocksNotGranted extends Error {
  constructor(holders: readonly Holder[], cause: unknown) {
    const sessions = holders.map(({ pid, application }) => `${pid} (${application})`).join(', ');
    super(
      `its locks were not granted in time${sessions && `, because of the sessions ${sessions}`}`,
      {
        cause,
      },
    );
  }
}

/** Takes the locks of migrations without making requests wait, and logs the sessions that hold them. */
export class MigrationLocks {
  readonly #url: string;
  readonly #log: LockLog | undefined;
  readonly #limits: LockLimits;
  #observer: pg.Client | undefined;

  constructor(url: string, log: LockLog | undefined, limits = lockLimits) {
    this.#url = url;
    this.#log = log;
    this.#limits = limits;
  }

  /**
   * Runs work in a transaction whose statements wait only briefly for each lock, because every request that needs
   * the table waits behind them. The transaction is tried again until its locks are granted. Rejects with
   * `LocksNotGranted` if they are not granted in time.
   */
  async transaction(
    client: pg.Client,
    migration: string,
    work: () => Promise<void>,
  ): Promise<void> {
    const { timeoutMs, maxWaitMs, pauseMs, maxPauseMs } = this.#limits;
    const deadline = Date.now() + maxWaitMs;
    for (let pause = pauseMs; ; pause = Math.min(2 * pause, maxPauseMs)) {
      const observed = await this.#observe(client);
      try {
        await inTransaction(client, timeoutMs, work);
        return;
      } catch (error) {
        if (!RETRIED.has((error as pg.DatabaseError).code ?? '')) throw error;
        const { holders } = observed;
        const retries = Date.now() + pause < deadline;
        this.#log?.warn(
          { migration, holders, pauseMs: retries ? pause : undefined },
          'a migration did not get a lock',
        );
        if (!retries) throw new LocksNotGranted(holders, error);
      } finally {
        await observed.end();
      }
      await delay(pause);
    }
  }

  /**
   * Runs a statement that cannot run in a transaction, such as CREATE INDEX CONCURRENTLY. Requests do not wait behind
   * it, so it may wait long for others.
   */
  async alone(client: pg.Client, migration: string, statement: string): Promise<void> {
    await client.query("SET lock_timeout = '1h'");
    const observed = await this.#observe(client, (holders) =>
      this.#log?.warn({ migration, holders }, 'a migration waits for other transactions'),
    );
    try {
      await client.query(statement);
    } finally {
      await observed.end();
    }
  }

  /**
   * Waits until no other process migrates; the lock ends with the connection. It is polled: a waiting statement
   * would hold a snapshot, for which CREATE INDEX CONCURRENTLY in the other session would wait (a deadlock).
   */
  async waitForOthers(client: pg.Client, lock: number): Promise<void> {
    let lastLog = Number.NEGATIVE_INFINITY;
    for (;;) {
      const { rows } = await client.query('SELECT pg_try_advisory_lock($1) AS locked', [lock]);
      if (rows[0].locked) return;
      if (Date.now() - lastLog > LOG_EVERY_MS) {
        lastLog = Date.now();
        const holders = await client.query<Holder>(
          `SELECT ${HOLDER} FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
           WHERE l.locktype = 'advisory' AND l.granted AND l.classid = 0 AND l.objid = $1 AND l.objsubid = 1
             AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
          [lock],
        );
        this.#log?.warn({ holders: holders.rows }, 'another process migrates; waiting for it');
      }
      await delay(100);
    }
  }

  async end(): Promise<void> {
    await this.#observer?.end().catch(() => undefined);
  }

  /** Finds the sessions that block the client, while its statements run. */
  async #observe(
    client: pg.Client,
    onWait?: (holders: readonly Holder[]) => void,
  ): Promise<{ readonly holders: readonly Holder[]; end(): Promise<void> }> {
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const ended = new AbortController();
    const found: { holders: readonly Holder[] } = { holders: [] };
    const run = async (): Promise<void> => {
      let lastLog = Number.NEGATIVE_INFINITY;
      for (;;) {
        await delay(OBSERVE_MS, undefined, { signal: ended.signal });
        const holders = await this.#holdersFor(rows[0]?.pid);
        if (holders.length === 0) continue;
        found.holders = holders;
        if (Date.now() - lastLog < LOG_EVERY_MS) continue;
        lastLog = Date.now();
        onWait?.(holders);
      }
    };
    // Without these sessions, a migration works all the same.
    const running = run().catch(() => undefined);
    return Object.assign(found, {
      end() {
        ended.abort();
        return running;
      },
    });
  }

  async #holdersFor(pid: number | undefined): Promise<readonly Holder[]> {
    if (!this.#observer) {
      const observer = new pg.Client({
        connectionString: this.#url,
        application_name: 'migrate-observer',
      });
      observer.on('error', () => undefined);
      await observer.connect();
      this.#observer = observer;
    }
    const { rows } = await this.#observer.query<Holder>(
      `SELECT ${HOLDER} FROM pg_stat_activity a WHERE a.pid = ANY (pg_blocking_pids($1))`,
      [pid],
    );
    return rows;
  }
}

const inTransaction = async (
  client: pg.Client,
  lockTimeoutMs: number,
  work: () => Promise<void>,
): Promise<void> => {
  try {
    await client.query('BEGIN');
    await client.query(`SET LOCAL lock_timeout = ${lockTimeoutMs}`);
    await work();
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {
      throw error; // The connection is lost, so the server rolls back.
    });
    throw error;
  }
};
