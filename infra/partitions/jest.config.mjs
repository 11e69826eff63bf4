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
    '/imports/killed\\.test\\.ts$',
    '/documents/uploads/uploads\\.replicas\\.test\\.ts$',
    '/tasks/reorder-concurrency\\.test\\.ts$',
    // The emulation drops the functions that return rows of the outbox, and without row-level security the setting that
    // switches the events of a broker on is not accepted. tables/citus.test.ts covers how the outbox is filled.
    '/features/webhooks/',
    '/public-reading/sites\\.test\\.ts$',
    '/imports/sender-access\\.test\\.ts$',
    '/chat/streams/streams-access\\.test\\.ts$',
  ],
};
