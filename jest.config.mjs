import { availableParallelism } from 'node:os';

// The tests run the sources: no build comes first (packages export a `source` condition).
export default {
  testEnvironment: '<rootDir>/jest.environment.mjs',
  runtime: '<rootDir>/jest.runtime.mjs',
  // Processes, brokers and databases take their time on a busy machine; nothing here measures speed.
  testTimeout: 180_000,
  // One more than there are cores, because some files mostly wait, for example until a replica takes over from a killed process.
  maxWorkers: availableParallelism() + 1,
  // What test files leave in memory adds up: a worker that has grown is replaced by a new one, which has to load all
  // modules again.
  workerIdleMemoryLimit: '2GB',
  testEnvironmentOptions: { customExportConditions: ['source', 'node', 'node-addons'] },
  // One embedded PostgreSQL a run, started when the first test asks for it.
  globalSetup: '<rootDir>/packages/local-stack/src/jest-setup.ts',
  globalTeardown: '<rootDir>/packages/local-stack/src/jest-teardown.ts',
  testMatch: ['**/src/**/*.test.ts', '**/infra/containers/*.test.mjs', '**/scripts/*.test.mjs'],
  // Those that need more than Node have a configuration of their own below `infra`.
  testPathIgnorePatterns: [
    '/node_modules/',
    '/dist/',
    '\\.(redis|pgbouncer|s3|browser|clamd|restore|upgrade|citus)\\.test\\.ts$',
  ],
  modulePathIgnorePatterns: ['/dist/'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { target: 'es2023', parser: { syntax: 'typescript' } }, module: { type: 'es6' } },
    ],
  },
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
};
