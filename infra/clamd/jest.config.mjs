import base from '../../jest.config.mjs';

const { testPathIgnorePatterns: _, ...others } = base;

/** Tests that need a clamd. */
export default {
  ...others,
  rootDir: '../..',
  testMatch: ['**/src/**/*.clamd.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
};
