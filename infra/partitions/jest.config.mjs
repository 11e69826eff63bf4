import base from '../../jest.config.mjs';

if (process.env.TEST_CRM_TABLES !== 'partitioned') {
  throw new Error('Run these tests with `npm run test:partitions`.');
}

/**
 * Runs the tests of CRM's records and features on tables partitioned by tenant. A test file fails if a
 * statement of the service accesses more than one partition.
 */
export default {
  ...base,
  rootDir: '../..',
  testMatch: [
    '<rootDir>/apps/crm/src/records/**/*.test.ts',
    '<rootDir>/apps/crm/src/features/**/*.test.ts',
    '<rootDir>/apps/crm/src/plans.test.ts',
  ],
  // Killed processes and races say nothing about plans, and take long.
  testPathIgnorePatterns: [
    ...base.testPathIgnorePatterns,
    '/killed\\.test\\.ts$',
    '/documents/uploads/uploads\\.replicas\\.test\\.ts$',
    '/tasks/reorder-concurrency\\.test\\.ts$',
  ],
};
