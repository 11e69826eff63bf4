import type { TenantDb } from './tenant-db.ts';
import type { RunStatement } from './transaction.ts';

/** The rows of a tenant in a transaction; nested transactions are part of it. */
export const within = (
  about: Pick<TenantDb, 'tenantId' | 'readSchema'>,
  run: RunStatement,
): TenantDb => {
  const db: TenantDb = {
    tenantId: about.tenantId,
    readSchema: about.readSchema,
    query: (statement) => run(statement),
    read: (statement, options) => run(statement, options?.format),
    transaction: (work) => work(db),
    snapshot: (work) => work(db),
  };
  return db;
};
