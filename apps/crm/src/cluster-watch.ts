import { type PeriodicWork, startPeriodicWork } from '@tessera/background-work';
import type { Logger } from '@tessera/http-kit';
import type { Pool } from 'pg';
import { Gauge, type Registry } from 'prom-client';

const EVERY_MS = 5000;
const CONNECTION_TIMEOUT_MS = 2000;

interface Workers {
  readonly all: number;
  /** `host:port` of each worker that does not answer. */
  readonly unreachable: readonly string[];
}

/** Asks each worker of the Citus cluster for a sign of life. */
export const askWorkers = async (pool: Pool): Promise<Workers> => {
  const client = await pool.connect();
  try {
    await client.query(`BEGIN; SET LOCAL citus.node_connection_timeout = ${CONNECTION_TIMEOUT_MS}`);
    const { rows } = await client.query<{ name: string; success: boolean }>(
      `SELECT nodename || ':' || nodeport AS name, success
       FROM run_command_on_workers('SELECT 1') ORDER BY 1`,
    );
    await client.query('ROLLBACK');
    client.release();
    const unreachable = rows.filter(({ success }) => !success).map(({ name }) => name);
    return { all: rows.length, unreachable };
  } catch (error) {
    client.release(true);
    throw error;
  }
};

/** What is known about the workers of the Citus cluster. */
export class ClusterWatch {
  readonly #pool: Pool;
  readonly #logger: Logger;
  #last: Workers = { all: 0, unreachable: [] };
  #work: PeriodicWork | undefined;

  constructor(pool: Pool, logger: Logger, registry: Registry) {
    this.#pool = pool;
    this.#logger = logger;
    const read = () => this.unreachable;
    new Gauge({
      name: 'database_workers_unreachable',
      help: 'Workers of the Citus cluster that do not answer.',
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  }

  /** How many workers did not answer the last time. */
  get unreachable(): number {
    return this.#last.unreachable.length;
  }

  /** Whether no tenant can be served, because all workers were unreachable. */
  get isDown(): boolean {
    return this.#last.all > 0 && this.unreachable === this.#last.all;
  }

  /** Asks the workers now, and then every few seconds. */
  async start(): Promise<void> {
    await this.#ask();
    this.#work = startPeriodicWork({
      everyMs: EVERY_MS,
      logger: this.#logger,
      failure: 'the workers of the cluster could not be asked',
      work: () => this.#ask(),
    });
  }

  async stop(): Promise<void> {
    await this.#work?.stop();
  }

  async #ask(): Promise<void> {
    const workers = await askWorkers(this.#pool);
    const before = this.#last.unreachable.join();
    this.#last = workers;
    const { unreachable } = workers;
    if (unreachable.join() === before) return;
    if (unreachable.length === 0) this.#logger.info('all workers of the cluster answer again');
    else this.#logger.error({ unreachable }, 'tenants on these workers cannot be served');
  }
}
