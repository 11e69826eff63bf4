import base from '../../jest.config.mjs';

const { testPathIgnorePatterns: _, ...others } = base;

/** Tests that need a server that speaks S3. */
export default {
  ...others,
  rootDir: '../..',
  testMatch: ['**/src/**/*.s3.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
};
