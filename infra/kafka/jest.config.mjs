import base from '../../jest.config.mjs';

/** Where the tests are that a broker takes part in. */
const suites = [
  'infra/kafka/',
  'packages/event-bus/',
  'apps/crm/src/access/stream',
  'packages/local-stack/src/system/',
];

export default {
  ...base,
  rootDir: '../..',
  testMatch: suites.map((suite) => `<rootDir>/${suite}**/*.test.{ts,mjs}`),
  testTimeout: 120_000,
  resolver: '<rootDir>/infra/kafka/resolver.cjs',
  reporters: ['default', ['<rootDir>/infra/kafka/reporter.mjs', { suites }]],
};
