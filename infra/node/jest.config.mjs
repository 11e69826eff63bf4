import base from '../../jest.config.mjs';

if (process.version !== process.env.TESSERA_NODE) {
  throw new Error(
    `The tests were to run on Node ${process.env.TESSERA_NODE}, and this is ${process.version}`,
  );
}

/**
 * What depends on Node most, in a quarter of the time of all tests: every route of both services by its
 * document, the OAuth endpoints with oidc-provider, bcrypt's native code, HTTP itself, both services as
 * processes with what they write, and the whole system with its broker.
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
    '<rootDir>/packages/local-stack/src/system/**/*.test.ts',
  ],
};
