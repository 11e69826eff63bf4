import base from '../../jest.config.mjs';

if (process.env.PREVIOUS_RELEASE === undefined) {
  throw new Error('Run these tests with `npm run test:upgrade`.');
}

const { testPathIgnorePatterns: _, ...others } = base;

/** Tests that need the previous release. */
export default {
  ...others,
  rootDir: '../..',
  testMatch: ['**/src/**/*.upgrade.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
};
