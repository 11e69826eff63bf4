import base from '../../jest.config.mjs';

if (process.env.TEST_CRM_TABLES !== 'partitioned') {
  throw new Error('Run these tests by `npm run test:partitions`.');
}

/**
 * The tests of CRM's records and features, on tables that are partitioned by tenant. A test file fails where a
 * statement of the service touches more than one partition.
 */
export default {
  ...base,
  rootDir: '../..',
  testMatch: [
    '<rootDir>/apps/crm/src/records/**/*.test.ts',
    '<rootDir>/apps/crm/src/features/**/*.test.ts',
  ],
};
