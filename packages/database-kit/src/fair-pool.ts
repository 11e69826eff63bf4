import { FairQueue, QueueFull, type Turn } from '@tessera/fair-shares';
import pg from 'pg';

type Connected = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: (release?: unknown) => void,
) => void;

export interface FairPoolOptions extends pg.PoolConfig {
  /** Maximum number of connections. */
  readonly max: number;
  /** Milliseconds that work waits for its turn, and then for a connection. */
  readonly connectionTimeoutMillis: number;
  /** Whose share a connection is of if the call does not say. Default: one share for all such calls. */
  readonly keyOf?: (() => string) | undefined;
}

/**
 * The share of a key is in use, and either too much of its work waits already or its turn has not come in time. A later
 * attempt may succeed.
 */
export class ShareInUse extends Error {
  override readonly name = 'ShareInUse';

  constructor(cause: unknown) {
    super('The share of the database connections is in use', { cause });
  }
}

/** How many pieces of work may wait for each connection. */
const WAITING_PER_CONNECTION = 1000;

const shareInUse = (error: unknown): Error =>
  error instanceof QueueFull ? new ShareInUse(error) : (error as Error);

const nothing = (): void => undefined;

/**
 * A pool of connections that keys, such as tenants, share. One key has at most half of the connections and of the places
 * to wait for one; keys that wait take turns. Turns come before connections are taken, so nobody waits in the pool itself.
 *
 * Transactions may wait for locks of their own tenant while they hold a connection. Therefore, all of them together have
 * half of the connections at most, and one key has half of that. The connections that are left also serve transactions
 * that run a query outside of themselves; of two connections, one key may therefore have both.
 */
export class FairPool extends pg.Pool {
  readonly #turns: FairQueue;
  readonly #transactions: FairQueue;
  readonly #keyOf: () => string;
  /** The turns of connections in use. */
  readonly #held = new WeakMap<pg.PoolClient, Turn>();
  /** Whose call is being made. */
  #caller: string | undefined;

  constructor({ keyOf = () => '', ...options }: FairPoolOptions) {
    super(options);
    const { max, connectionTimeoutMillis: maxWaitMs } = options;
    const waiting = max * WAITING_PER_CONNECTION;
    const portion = max > 2 ? 'half' : 'all';
    this.#turns = new FairQueue({ concurrency: max, portion, waiting, maxWaitMs });
    this.#transactions = new FairQueue({ concurrency: Math.ceil(max / 2), waiting, maxWaitMs });
    this.#keyOf = keyOf;
    this.on('release', (_error, client) => this.#held.get(client)?.());
  }

  /** How many calls wait for their turn. */
  get waiting(): number {
    return this.#turns.waiting + this.#transactions.waiting;
  }

  /** As `query`, in the share of a key. */
  queryFor(key: string, query: pg.QueryConfig | pg.Submittable): Promise<pg.QueryResult> {
    return this.#under(key, () => this.query(query as pg.QueryConfig));
  }

  /** The pool for statements in the share of a key. */
  share(key: string): Pick<pg.Pool, 'query'> {
    const query = (...given: Parameters<pg.Pool['query']>) =>
      this.#under(key, () => this.query(...given));
    return { query: query as pg.Pool['query'] };
  }

  /** As `connect`, in the share of a key. */
  connectFor(key: string): Promise<pg.PoolClient> {
    return this.#under(key, () => this.connect());
  }

  /** A connection for a transaction. `query` calls this with a callback, for one statement. Fails with ShareInUse. */
  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<pg.PoolClient> | undefined {
    const key = this.#caller ?? this.#keyOf();
    if (!callback) return this.#connectForTransaction(key);
    const turn = this.#turns.tryBegin(key);
    if (turn) this.#connect(turn, callback);
    else {
      this.#turns.begin(key).then(
        (begun) => this.#connect(begun, callback),
        (error) => callback(shareInUse(error), undefined, nothing),
      );
    }
    return undefined;
  }

  async #connectForTransaction(key: string): Promise<pg.PoolClient> {
    const transaction = await this.#transactions.begin(key).catch((error) => {
      throw shareInUse(error);
    });
    const turn = await this.#turns.begin(key).catch((error) => {
      transaction();
      throw shareInUse(error);
    });
    const end = (): void => {
      transaction();
      turn();
    };
    return new Promise((resolve, reject) => {
      this.#connect(end, (error, client) => (client ? resolve(client) : reject(error)));
    });
  }

  #connect(turn: Turn, callback: Connected): void {
    super.connect((error, client, done) => {
      if (client) this.#held.set(client, turn);
      else turn();
      callback(error, client, done);
    });
  }

  #under<T>(key: string, call: () => T): T {
    this.#caller = key;
    try {
      return call();
    } finally {
      this.#caller = undefined;
    }
  }
}
