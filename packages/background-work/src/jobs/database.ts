import type { Logger } from '@tessera/http-kit';
import type { Pool, QueryResult } from 'pg';
import type { Db } from 'pg-boss';
import { type Listener, listen } from '../listen.ts';

interface Statement {
  readonly text: string;
  readonly values: unknown[];
}

/** The caller's transaction: a client of pg, a `TenantDb`, or the transaction client of Prisma. */
export type JobTransaction =
  | { query(statement: Statement): Promise<Pick<QueryResult, 'rows'> | unknown[]> }
  | { $queryRawUnsafe(text: string, ...values: unknown[]): Promise<unknown> };

/** Makes the queue run its statements in the caller's transaction. */
export const inTransaction = (tx: JobTransaction): Db => ({
  async executeSql(text, values = []) {
    if ('$queryRawUnsafe' in tx) {
      return { rows: (await tx.$queryRawUnsafe(text, ...values)) as unknown[] };
    }
    const result = await tx.query({ text, values });
    return { rows: Array.isArray(result) ? result : result.rows };
  },
});

/** The service's pool, and a listener on a direct connection. */
export const onPool = (
  pool: Pick<Pool, 'query'>,
  { directUrl, logger }: { readonly directUrl: string; readonly logger: Logger },
): Db => ({
  executeSql: (text, values) => pool.query(text, values),
  async listen(channel, onNotification, onReconnect) {
    const applicationName = 'job queue';
    const listener: Listener = listen({
      directUrl,
      applicationName,
      channel,
      logger,
      onNotification,
      onListening: onReconnect,
    });
    return { close: () => listener.stop() };
  },
});
