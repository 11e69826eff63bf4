import type pg from 'pg';
import { isDatabaseUnavailable } from './errors.ts';
import { type Position, parsePosition, type WritePositions } from './write-positions.ts';

/** The statement that gives the primary's position, which is behind everything that is committed. */
export const PRIMARY_POSITION = 'SELECT pg_current_wal_insert_lsn()::text AS position';

export interface ReplicaOptions {
  readonly primary: pg.Pool;
  readonly replica: pg.Pool;
  readonly positions: WritePositions;
  /** Hears of a replica, or of positions, that do not answer. */
  readonly onFailure: (error: unknown) => void;
  /** How long a replica that failed is left alone, in milliseconds. Default 5,000. */
  readonly pause?: number;
}

const PAUSE_MS = 5000;
/** How long a position of the replica counts; a replica that is made anew may be behind the former one. */
const KNOWN_MS = 1000;

const STATEMENT_TIMEOUT = '57014';
/** A statement on a replica was in the way of what it had to replay. */
const RECOVERY_CONFLICTS: ReadonlySet<unknown> = new Set(['40001', '40P01']);

/** A read replica, which answers a tenant that finds its own last change there. */
export class Replica {
  readonly #options: ReplicaOptions;
  #pausedUntil = 0;
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
    if (performance.now() < this.#pausedUntil) return false;
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
    this.#pausedUntil = performance.now() + (this.#options.pause ?? PAUSE_MS);
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

  async #look(): Promise<Position> {
    // Null where the server is no replica.
    const text = await positionOf(
      this.#options.replica,
      "SELECT coalesce(pg_last_wal_replay_lsn(), '0/0')::text AS position",
    );
    const position = parsePosition(text);
    this.#replayed = { position, at: performance.now() };
    return position;
  }
}

const positionOf = async (pool: pg.Pool, text: string): Promise<string> => {
  const { rows } = await pool.query<{ position: string }>(text);
  return rows[0]?.position ?? '0/0';
};
