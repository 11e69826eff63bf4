export { batched } from './batched.ts';
export { columnTypes } from './column-types.ts';
export { forwardSettings } from './distributed-tenant-db.ts';
export {
  type ConstraintViolation,
  isBusy,
  isDatabaseUnavailable,
  isStatementTimeout,
  isUniqueViolation,
  violatedConstraint,
} from './errors.ts';
export { FairPool, ShareInUse } from './fair-pool.ts';
export { jsonRows } from './json-rows.ts';
export { jsonTypes } from './json-types.ts';
export { MigrationError } from './migration-failures.ts';
export {
  type MigrationDirectory,
  type MigrationLog,
  type MigrationResult,
  migrate,
  migrationsApplied,
} from './migrations.ts';
export {
  CONNECTION_TIMEOUT_MS,
  createAdapter,
  createPool,
  type PoolOptions,
} from './pool.ts';
export { Replica, type ReplicaOptions } from './replica.ts';
export type { RowFormat } from './row-format.ts';
export type { Statement } from './statements.ts';
export {
  type CatalogueColumn,
  type CatalogueReference,
  type CatalogueTable,
  readTables,
  referringFirst,
} from './table-catalogue.ts';
export {
  createTenantDb,
  createTenantDbs,
  type QueryOptions,
  type ReadOptions,
  type TenantDb,
  type TenantsInTransaction,
  tenantsInTransaction,
} from './tenant-db.ts';
export { TransactionTimeout } from './transaction.ts';
export {
  memoryPositions,
  redisPositions,
  type WritePositions,
} from './write-positions.ts';
