import { Gauge, type Registry } from 'prom-client';

/** What is measured of a pool; a `FairPool` has these members. */
export interface PoolReading {
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waiting: number;
  readonly options: { readonly max: number };
}

/** Registers the metrics of pools of database connections, by name. */
export const registerPools = (
  registry: Registry,
  pools: Readonly<Record<string, PoolReading>>,
): void => {
  const gauge = (name: string, help: string, of: (pool: PoolReading) => number): void => {
    new Gauge({
      name,
      help,
      labelNames: ['pool'],
      registers: [registry],
      collect() {
        for (const [pool, reading] of Object.entries(pools)) this.set({ pool }, of(reading));
      },
    });
  };
  gauge('database_pool_connections', 'Open connections.', (pool) => pool.totalCount);
  gauge('database_pool_connections_idle', 'Connections not in use.', (pool) => pool.idleCount);
  gauge('database_pool_connections_max', 'Most connections.', (pool) => pool.options.max);
  gauge('database_pool_waiting', 'Work that waits for a connection.', (pool) => pool.waiting);
};
