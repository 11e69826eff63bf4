export { isDatabaseUnavailable, isUniqueViolation } from './errors.ts';
export {
  type Migrated,
  type MigrationDirectory,
  MigrationError,
  type MigrationLog,
  migrate,
  migrationsApplied,
} from './migrations.ts';
export { createAdapter, createPool, type PoolOptions } from './pool.ts';
