import base from '../../jest.config.mjs';

if (process.version !== process.env.TESSERA_NODE) {
  throw new Error(
    `The tests were to run on Node ${process.env.TESSERA_NODE}, and this is ${process.version}`,
  );
}

/**
 * The tests that depend most on Node: HTTP, sign-in and tokens with oidc-provider, bcrypt's native code, files and
 * streams, both services as processes with their output, and the main job of the whole system with its broker.
 */
export default {
  ...base,
  rootDir: '../..',
  testMatch: [
    '<rootDir>/apps/*/src/main.test.ts',
    '<rootDir>/apps/crm/src/features/chat/streams/streams.test.ts',
    '<rootDir>/apps/crm/src/features/documents/documents.test.ts',
    '<rootDir>/apps/identity/src/oauth/user/{authorize,libraries,token}.test.ts',
    '<rootDir>/apps/identity/src/passwords/passwords.test.ts',
    '<rootDir>/packages/file-store/src/**/*.test.ts',
    '<rootDir>/packages/http-kit/src/**/*.test.ts',
    '<rootDir>/packages/local-stack/src/system/main-job.test.ts',
  ],
};
