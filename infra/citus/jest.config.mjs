import base from '../../jest.config.mjs';

if (!process.env.TEST_CITUS_RUN) {
  throw new Error('Run these tests with `npm run test:citus`.');
}

/** Runs the tests of CRM's records and features on a Citus cluster. */
export default {
  ...base,
  rootDir: '../..',
  globalTeardown: '<rootDir>/packages/local-stack/src/jest-citus-teardown.ts',
  testMatch: [
    '<rootDir>/apps/crm/src/records/**/*.test.ts',
    '<rootDir>/apps/crm/src/features/**/*.test.ts',
    '<rootDir>/apps/crm/src/**/*.citus.test.ts',
  ],
  testPathIgnorePatterns: [
    ...base.testPathIgnorePatterns.map((pattern) => pattern.replace('|citus', '')),
    // Its statements lock rows of several tenants, and change the tenant of a row. Those of CRM never do.
    '/records/counts-of-many-tenants\\.test\\.ts$',
  ],
};
