import base from '../jest.config.mjs';

const { testPathIgnorePatterns: _, ...others } = base;

/** The configuration for the tests whose files end with `.<kind>.test.ts`, in a folder below `infra`. */
export const testsOfKind = (kind) => ({
  ...others,
  rootDir: '../..',
  testMatch: [`**/src/**/*.${kind}.test.ts`],
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
});
