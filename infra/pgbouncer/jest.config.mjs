import base from '../../jest.config.mjs';

const { testPathIgnorePatterns: _, ...others } = base;

/** Tests that need PgBouncer. */
export default {
  ...others,
  rootDir: '../..',
  testMatch: ['**/src/**/*.pgbouncer.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
};
