import base from '../../jest.config.mjs';

const { testPathIgnorePatterns: _, ...others } = base;

/** Tests that need a Redis server. */
export default {
  ...others,
  rootDir: '../..',
  testMatch: ['**/src/**/*.redis.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
};
