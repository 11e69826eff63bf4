import base from '../../jest.config.mjs';

const { testMatch: _, ...others } = base;

/** Tests that use a broker. Of the system tests, those with each kind of event and with outages. */
const suites = [
  '/infra/kafka/.*\\.test\\.mjs$',
  '/packages/event-bus/src/(?!embedded-).*\\.test\\.ts$',
  '/packages/local-stack/src/system/(account-deletion|outages|tenants)\\.test\\.ts$',
  '/apps/identity/src/outbox/.*\\.test\\.ts$',
  '/apps/crm/src/events/publish[^/]*\\.test\\.ts$',
  '/packages/resource-server/src/(stream|example/rooms)[^/]*\\.test\\.ts$',
];

export default {
  ...others,
  rootDir: '../..',
  testRegex: suites,
  resolver: '<rootDir>/infra/kafka/resolver.cjs',
  reporters: ['default', ['<rootDir>/infra/kafka/reporter.mjs', { suites }]],
};
