export { batched } from './batched.ts';
export { brokenForeignKey, isDatabaseUnavailable, isUniqueViolation } from './errors.ts';
export {
  type Migrated,
  type MigrationDirectory,
  MigrationError,
  type MigrationLog,
  migrate,
  migrationsApplied,
} from './migrations.ts';
export {
  createAdapter,
  createPool,
  createReader,
  type PoolOptions,
  type Statement,
} from './pool.ts';
