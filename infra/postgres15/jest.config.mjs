import base from '../../jest.config.mjs';

if (process.env.TEST_POSTGRES_BINARIES === undefined) {
  throw new Error('Run these tests by `npm run test:postgres15`.');
}

/** What depends on PostgreSQL most: the tables, functions and statements of CRM, migrations, and bulk loads. */
export default {
  ...base,
  rootDir: '../..',
  testMatch: [
    '<rootDir>/apps/crm/src/tables/**/*.test.ts',
    '<rootDir>/apps/crm/src/records/**/*.test.ts',
    '<rootDir>/apps/crm/src/features/**/*.test.ts',
    '<rootDir>/packages/database-kit/src/**/*.test.ts',
    '<rootDir>/packages/local-stack/src/test-database.test.ts',
    '<rootDir>/packages/seeding/src/bulk-load.test.ts',
  ],
  testPathIgnorePatterns: [
    ...base.testPathIgnorePatterns,
    // Prisma's tools start the embedded server themselves.
    '/prisma-cli\\.test\\.ts$',
    // A killed process says nothing about SQL, and the take-over of its jobs takes half a minute.
    '/imports/killed\\.test\\.ts$',
  ],
};
