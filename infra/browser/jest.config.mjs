import base from '../../jest.config.mjs';

const { testPathIgnorePatterns: _, ...others } = base;

/** Tests that need Chromium. */
export default {
  ...others,
  rootDir: '../..',
  testMatch: ['**/src/**/*.browser.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
};
