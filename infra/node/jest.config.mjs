import base from '../../jest.config.mjs';

if (process.version !== process.env.TESSERA_NODE) {
  throw new Error(
    `The tests were to run on Node ${process.env.TESSERA_NODE}, and this is ${process.version}`,
  );
}

/**
 * The tests that depend most on Node: all routes of both services by their OpenAPI documents, the OAuth
 * endpoints with oidc-provider, bcrypt's native code, HTTP, both services as processes with their output, and
 * the main job of the whole system with its broker.
 */
export default {
  ...base,
  rootDir: '../..',
  testMatch: [
    '<rootDir>/apps/*/src/conformance.test.ts',
    '<rootDir>/apps/*/src/main.test.ts',
    '<rootDir>/apps/identity/src/oauth/**/*.test.ts',
    '<rootDir>/apps/identity/src/passwords/passwords.test.ts',
    '<rootDir>/packages/http-kit/src/**/*.test.ts',
    '<rootDir>/packages/local-stack/src/system/main-job.test.ts',
  ],
};
