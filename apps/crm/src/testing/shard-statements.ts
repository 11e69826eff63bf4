import { appendFileSync } from 'node:fs';
import { shardReport } from '@tessera/local-stack';
import pg from 'pg';

/** The shards in a command that Citus has sent to a worker. */
const SHARD = /(?<=tenant_crm\.[a-z_]+_)\d{6,}\b/g;

const withClient = async <T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
};

/** Makes Citus report the commands that it sends to workers, to the client whose statement they belong to. */
export const sendRemoteCommands = (url: string): Promise<unknown> => {
  const database = pg.escapeIdentifier(decodeURIComponent(new URL(url).pathname.slice(1)));
  return withClient(url, (client) =>
    client.query(`ALTER DATABASE ${database} SET citus.log_remote_commands = on`),
  );
};

/** The first hash value of each shard: those of colocated shards are equal. */
const readShards = (url: string): Promise<ReadonlyMap<string, string>> =>
  withClient(url, async (client) => {
    const { rows } = await client.query<{ id: string; first: string }>(
      'SELECT shardid AS id, shardminvalue AS first FROM pg_dist_shard WHERE shardminvalue IS NOT NULL',
    );
    return new Map(rows.map(({ id, first }) => [id, first]));
  });

interface Execution {
  readonly text: string;
  readonly shards: Set<string>;
}

/** Collects which shards the service's statements on a pool access; see `sendRemoteCommands`. */
export class ShardStatements {
  readonly #url: string;
  readonly #executions: Execution[] = [];

  constructor(pool: pg.Pool, url: string) {
    this.#url = url;
    pool.on('connect', (client) => this.#watch(client));
  }

  /** Throws if a statement accessed more than one shard, those that are colocated counted as one. */
  async verify(): Promise<void> {
    const accessed = this.#executions.filter((execution) => execution.shards.size > 0);
    // Some tests use a database without Citus.
    if (accessed.length === 0) return;
    const shards = await readShards(this.#url);
    const wide = accessed.filter((execution) => {
      // A shard that has been split or moved is not known any more.
      const values = [...execution.shards].flatMap((shard) => shards.get(shard) ?? []);
      return new Set(values).size > 1;
    });
    appendFileSync(shardReport(), `${JSON.stringify([accessed.length, wide.length])}\n`);
    if (wide.length === 0) return;
    const texts = [...new Set(wide.map(({ text }) => text.trim()))];
    throw new Error(
      `Each mention of a table must be limited to one tenant by a parameter:\n${texts.join('\n')}`,
    );
  }

  #watch(client: pg.PoolClient): void {
    // The service uses named (prepared) statements; those that tests send through the same pool are unnamed.
    let current: Execution | undefined;
    const query = client.query as (...args: unknown[]) => unknown;
    const watched = (...args: unknown[]): unknown => {
      const [config] = args;
      current = undefined;
      if (typeof config === 'object' && config !== null && 'name' in config && 'text' in config) {
        current = { text: `${config.text}`, shards: new Set() };
        this.#executions.push(current);
      }
      return query.apply(client, args);
    };
    client.query = watched as pg.PoolClient['query'];
    client.on('notice', ({ message = '' }) => {
      for (const shard of message.match(SHARD) ?? []) current?.shards.add(shard);
    });
  }
}
