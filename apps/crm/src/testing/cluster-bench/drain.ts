import { createPool } from '@tessera/database-kit';
import { citusNodes } from '@tessera/local-stack';
import type { Pool } from 'pg';
import { startWriters } from '../writers.ts';
import type { BenchTenant } from './tenants.ts';

const CLIENTS = 8;

export interface Drain {
  readonly seconds: number;
  readonly created: number;
  readonly failures: readonly string[];
  /** How many contacts do not exist although their creation was confirmed. */
  readonly lost: number;
  readonly longestMs: number;
}

const countLost = async (
  pool: Pool,
  tenants: readonly BenchTenant[],
  ids: readonly (readonly string[])[],
): Promise<number> => {
  let lost = 0;
  for (const [at, own] of ids.entries()) {
    const { rows } = await pool.query<{ kept: number }>(
      'SELECT count(*)::int AS kept FROM tenant_crm.contacts WHERE tenant_id = $1 AND id = ANY ($2)',
      [tenants[at]?.id, own],
    );
    lost += own.length - (rows[0]?.kept ?? 0);
  }
  return lost;
};

/** Moves all shards of the last worker away while clients write to CRM at `url`. */
export const drainLastWorker = async (
  url: string,
  databaseUrl: string,
  tenants: readonly BenchTenant[],
): Promise<Drain> => {
  const pool = createPool(databaseUrl, { applicationName: 'bench', statementTimeout: 0 });
  const writers = startWriters(
    url,
    tenants.slice(0, CLIENTS).map(({ headers }) => headers),
  );
  try {
    const worker = (await citusNodes(databaseUrl)).at(-1);
    const begin = performance.now();
    await pool.query('SELECT citus_drain_node($1, $2)', [worker?.host, worker?.port]);
    const seconds = (performance.now() - begin) / 1000;
    const { ids, failures, longestMs } = await writers.stop();
    const lost = await countLost(pool, tenants, ids);
    return { seconds, created: ids.flat().length, failures, lost, longestMs };
  } finally {
    await writers.stop();
    await pool.end();
  }
};
