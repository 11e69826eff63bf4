import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { isDatabaseUnavailable } from './errors.ts';
import { type Position, parsePosition, type WritePositions } from './write-positions.ts';

/** The statement that gives the primary's position, which is behind everything that is committed. */
export const PRIMARY_POSITION = 'SELECT pg_current_wal_insert_lsn()::text AS position';

export interface ReplicaOptions {
  readonly primary: pg.Pool;
  readonly replica: pg.Pool;
  /**
   * Connections to the replica over which only its position is asked: those of `replica` may all be busy with
   * exports, which does not make it a replica that fails.
   */
  readonly probes: pg.Pool;
  readonly positions: WritePositions;
  /** Hears of a replica, or of positions, that do not answer. */
  readonly onFailure: (error: unknown) => void;
  /** How long a replica that failed is left alone, in milliseconds. Default 5,000. */
  readonly pause?: number;
  /** How long a read waits for the replica's position, in milliseconds. Default 500. */
  readonly answerTime?: number;
}

const PAUSE_MS = 5000;
const ANSWER_MS = 500;
/** How long a position of the replica counts; a replica that is made anew may be behind the former one. */
const KNOWN_MS = 1000;

const STATEMENT_TIMEOUT = '57014';
/** A statement on a replica was in the way of what it had to replay. */
const RECOVERY_CONFLICTS: ReadonlySet<unknown> = new Set(['40001', '40P01']);

/** A read replica, which answers a tenant that finds its own last change there. */
export class Replica {
  readonly #options: ReplicaOptions;
  /** From when on a replica that failed is asked again; undefined while it answers. */
  #retryAt: number | undefined;
  #asked: Promise<Position> | undefined;
  #replayed: { readonly position: Position; readonly at: number } | undefined;
  /** Changes before the start of this process are behind this position. */
  #floor: Promise<Position> | undefined;

  constructor(options: ReplicaOptions) {
    this.#options = options;
  }

  get pool(): pg.Pool {
    return this.#options.replica;
  }

  /** Notes that a change of the tenant is committed. `position` is read by `PRIMARY_POSITION` afterwards. */
  async wrote(tenantId: string, position?: string): Promise<void> {
    try {
      const text = position ?? (await positionOf(this.#options.primary, PRIMARY_POSITION));
      await this.#options.positions.note(tenantId, parsePosition(text));
    } catch (error) {
      // The change is committed, so this must not make it fail. Meanwhile the replica has time to catch up.
      this.#pause(error);
    }
  }

  /** Whether the replica answers and has the tenant's last change. */
  async has(tenantId: string): Promise<boolean> {
    if (this.#retryAt !== undefined) {
      this.#retry();
      return false;
    }
    try {
      const needed = (await this.#options.positions.get(tenantId)) ?? (await this.#atStart());
      const { position, at } = this.#replayed ?? { position: -1n, at: 0 };
      if (position >= needed && performance.now() - at < KNOWN_MS) return true;
      return (await this.#look()) >= needed;
    } catch (error) {
      this.#pause(error);
      return false;
    }
  }

  /** Whether the primary should answer instead, after the replica failed with this error. */
  refused(error: unknown): boolean {
    const { code } = error as { readonly code?: unknown };
    if (RECOVERY_CONFLICTS.has(code)) return true;
    if (code === STATEMENT_TIMEOUT || !isDatabaseUnavailable(error)) return false;
    this.#pause(error);
    return true;
  }

  #pause(error: unknown): void {
    this.#retryAt = performance.now() + (this.#options.pause ?? PAUSE_MS);
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

  /** Asks a replica that failed in the background: reads do not wait for one that may still not answer. */
  #retry(): void {
    if (this.#asked || performance.now() < (this.#retryAt ?? 0)) return;
    this.#look().then(
      () => {
        this.#retryAt = undefined;
      },
      (error) => this.#pause(error),
    );
  }

  /** The position of the replica, asked once for all reads that wait for it. */
  #look(): Promise<Position> {
    this.#asked ??= this.#askPosition().finally(() => {
      this.#asked = undefined;
    });
    return this.#asked;
  }

  async #askPosition(): Promise<Position> {
    const limit = new AbortController();
    const time = this.#options.answerTime ?? ANSWER_MS;
    const late = delay(time, undefined, { signal: limit.signal, ref: false }).then(() => {
      throw new Error(`The read replica did not answer within ${time} ms`);
    });
    // Null where the server is no replica.
    const asked = positionOf(
      this.#options.probes,
      "SELECT coalesce(pg_last_wal_replay_lsn(), '0/0')::text AS position",
    );
    // Only one of them is waited for.
    for (const promise of [late, asked]) promise.catch(() => undefined);
    try {
      const position = parsePosition(await Promise.race([asked, late]));
      this.#replayed = { position, at: performance.now() };
      return position;
    } finally {
      limit.abort();
    }
  }
}

const positionOf = async (pool: pg.Pool, text: string): Promise<string> => {
  const { rows } = await pool.query<{ position: string }>(text);
  return rows[0]?.position ?? '0/0';
};
