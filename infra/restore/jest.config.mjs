import base from '../../jest.config.mjs';

if (process.env.TEST_POSTGRES_BINARIES === undefined) {
  throw new Error('Run these tests with `npm run verify:restore`.');
}

const { testPathIgnorePatterns: _, ...others } = base;

/** Restores a backup of CRM's database to a time; needs `pg_basebackup`. */
export default {
  ...others,
  rootDir: '../..',
  testMatch: ['**/src/**/*.restore.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
};
