import base from '../../jest.config.mjs';

if (process.env.TEST_POSTGRES_BINARIES === undefined) {
  throw new Error('Run these tests with `npm run test:postgres15`.');
}

/**
 * What depends on PostgreSQL most: CRM's tables and their functions, row-level security, migrations, and bulk loads. CI
 * runs the tests of records and features on PostgreSQL 15 with partitioned tables.
 */
export default {
  ...base,
  rootDir: '../..',
  testMatch: [
    '<rootDir>/apps/crm/src/row-level-security.test.ts',
    '<rootDir>/apps/crm/src/tables/**/*.test.ts',
    '<rootDir>/packages/database-kit/src/**/*.test.ts',
    '<rootDir>/packages/local-stack/src/test-database.test.ts',
    '<rootDir>/packages/seeding/src/bulk-load.test.ts',
  ],
  testPathIgnorePatterns: [
    ...base.testPathIgnorePatterns,
    // Prisma's tools start the embedded server themselves.
    '/prisma-cli\\.test\\.ts$',
  ],
};
