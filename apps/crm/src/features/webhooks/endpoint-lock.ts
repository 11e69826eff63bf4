import { setTimeout as pause } from 'node:timers/promises';
import type { TenantDb } from '../../database.ts';
import { lockEndpoint, tryLockEndpoint } from './endpoints.repository.ts';

/** How often a lock is tried for, and the mean wait in between, in milliseconds. */
const ATTEMPTS = 50;
const WAIT_MS = 100;

/**
 * Runs `work` in a transaction that has locked the endpoint. While another one has, this holds no connection: the intake of many
 * events locks all endpoints of its tenant, and the jobs of these endpoints would have every connection meanwhile. After many
 * attempts, it waits in PostgreSQL, which locks in the order of requests.
 */
export const withLockedEndpoint = async <T>(
  db: TenantDb,
  endpointId: string,
  work: (tx: TenantDb) => Promise<T>,
): Promise<T> => {
  for (let attempt = 1; attempt < ATTEMPTS; attempt += 1) {
    const done = await db.transaction(async (tx) =>
      (await tryLockEndpoint(tx, endpointId)) ? { result: await work(tx) } : undefined,
    );
    if (done) return done.result;
    await pause(WAIT_MS * (0.5 + Math.random()));
  }
  return db.transaction(async (tx) => {
    await lockEndpoint(tx, endpointId);
    return work(tx);
  });
};
