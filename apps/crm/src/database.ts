import { createAdapter, createPool } from '@tessera/database-kit';
import type { Logger } from '@tessera/http-kit';
import type { Pool } from 'pg';
import { type Prisma, PrismaClient } from './generated/prisma/client.ts';

export type Database = PrismaClient;
/** An interactive transaction of Prisma. */
export type Transaction = Prisma.TransactionClient;

export const migrations = new URL('../prisma/migrations', import.meta.url);

/** The client and the pool below it; neither connects before the first query. */
export const createDatabase = (
  { url, poolSize }: { readonly url: string; readonly poolSize: number },
  logger: Logger,
): { pool: Pool; database: Database } => {
  const pool = createPool(url, {
    applicationName: 'crm',
    size: poolSize,
    schema: 'tenant_crm',
    // A plan that suits every term is a bad one for the rare ones: seconds instead of a millisecond.
    planCacheMode: 'force_custom_plan',
    onConnectionLost: (err) => logger.warn({ err }, 'an idle database connection was lost'),
  });
  return { pool, database: new PrismaClient({ adapter: createAdapter(pool) }) };
};
