import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type pg from 'pg';
import { isDatabaseUnavailable } from './errors.ts';
import type { FairPool } from './fair-pool.ts';
import { type Position, parsePosition, type WritePositions } from './write-positions.ts';

/** Selects the primary's position in the log, which is after everything that is committed. */
export const PRIMARY_POSITION = 'SELECT pg_current_wal_insert_lsn()::text AS position';

export interface ReplicaOptions {
  readonly primary: pg.Pool;
  readonly replica: FairPool;
  /**
   * Connections to the replica for reading its position. They are separate because those of `replica` may all be
   * busy with exports, which must not count as a failure.
   */
  readonly probes: pg.Pool;
  readonly positions: WritePositions;
  /** Called when the replica or the store of positions does not respond. */
  readonly onFailure: (error: unknown) => void;
  /** Milliseconds that a failed replica is not used. Default 5,000. */
  readonly pauseMs?: number;
  /** Milliseconds that a read waits for the replica's position. Default 500. */
  readonly timeoutMs?: number;
}

const PAUSE_MS = 5000;
const TIMEOUT_MS = 500;
/** How long a known position is used without asking: a rebuilt replica may be behind the previous one. */
const POSITION_LIFETIME_MS = 1000;

const STATEMENT_TIMEOUT = '57014';
/** The replica cancelled a statement that conflicted with the log that it replays. */
const RECOVERY_CONFLICTS: ReadonlySet<unknown> = new Set(['40001', '40P01']);

/** A read replica. It is used for a tenant once it has that tenant's last change (read your writes). */
export class Replica {
  readonly #options: ReplicaOptions;
  /** When a failed replica is tried again; undefined while it works. */
  #retryAt: number | undefined;
  #pending: Promise<Position> | undefined;
  #replayed: { readonly position: Position; readonly at: number } | undefined;
  /** Changes from before the start of this process precede this position. */
  #floor: Promise<Position> | undefined;

  constructor(options: ReplicaOptions) {
    this.#options = options;
  }

  get pool(): FairPool {
    return this.#options.replica;
  }

  /** Records that a change of the tenant is committed. `position` was read with `PRIMARY_POSITION` afterwards. */
  async recordWrite(tenantId: string, position?: string): Promise<void> {
    try {
      const text = position ?? (await positionOf(this.#options.primary, PRIMARY_POSITION));
      await this.#options.positions.note(tenantId, parsePosition(text));
    } catch (error) {
      // The change is committed, so the call must not fail. During the pause, the replica can catch up.
      this.#pause(error);
    }
  }

  /** Whether the replica responds and has the tenant's last change. */
  async isCurrentFor(tenantId: string): Promise<boolean> {
    if (this.#retryAt !== undefined) {
      this.#retry();
      return false;
    }
    try {
      const needed = (await this.#options.positions.get(tenantId)) ?? (await this.#atStart());
      const { position, at } = this.#replayed ?? { position: -1n, at: 0 };
      if (position >= needed && performance.now() - at < POSITION_LIFETIME_MS) return true;
      return (await this.#currentPosition()) >= needed;
    } catch (error) {
      this.#pause(error);
      return false;
    }
  }

  /** Whether the statement should be repeated on the primary after the replica failed with this error. */
  shouldUsePrimary(error: unknown): boolean {
    const { code } = error as { readonly code?: unknown };
    if (RECOVERY_CONFLICTS.has(code)) return true;
    if (code === STATEMENT_TIMEOUT || !isDatabaseUnavailable(error)) return false;
    this.#pause(error);
    return true;
  }

  #pause(error: unknown): void {
    this.#retryAt = performance.now() + (this.#options.pauseMs ?? PAUSE_MS);
    this.#replayed = undefined;
    this.#options.onFailure(error);
  }

  #atStart(): Promise<Position> {
    this.#floor ??= positionOf(this.#options.primary, PRIMARY_POSITION).then(parsePosition);
    this.#floor.catch(() => {
      this.#floor = undefined;
    });
    return this.#floor;
  }

  /** Tries a failed replica in the background, so that no read waits for it. */
  #retry(): void {
    const retryAt = this.#retryAt;
    if (this.#pending || performance.now() < (retryAt ?? 0)) return;
    this.#currentPosition().then(
      () => {
        // A write whose position could not be noted may have begun another pause meanwhile.
        if (this.#retryAt === retryAt) this.#retryAt = undefined;
      },
      (error) => this.#pause(error),
    );
  }

  /** The position of the replica, requested once for all reads that wait for it. */
  #currentPosition(): Promise<Position> {
    this.#pending ??= this.#fetchPosition().finally(() => {
      this.#pending = undefined;
    });
    return this.#pending;
  }

  async #fetchPosition(): Promise<Position> {
    const limit = new AbortController();
    const time = this.#options.timeoutMs ?? TIMEOUT_MS;
    const late = delay(time, undefined, { signal: limit.signal, ref: false }).then(async () => {
      // Reads a response that arrived in time while the event loop was blocked.
      await nextTurn();
      throw new Error(`The read replica did not respond within ${time} ms`);
    });
    // Null if the server is not a replica.
    const position = positionOf(
      this.#options.probes,
      "SELECT coalesce(pg_last_wal_replay_lsn(), '0/0')::text AS position",
    );
    // The one that loses the race may reject later.
    for (const promise of [late, position]) promise.catch(() => undefined);
    try {
      const replayed = parsePosition(await Promise.race([position, late]));
      this.#replayed = { position: replayed, at: performance.now() };
      return replayed;
    } finally {
      limit.abort();
    }
  }
}

const positionOf = async (pool: pg.Pool, text: string): Promise<string> => {
  const { rows } = await pool.query<{ position: string }>(text);
  return rows[0]?.position ?? '0/0';
};
