import { readConfig } from './config.ts';

const needed = { DATABASE_URL: 'postgresql://localhost/crm', IDENTITY_URL: 'http://identity:4000' };

test('little has to be said', () => {
  expect(readConfig(needed)).toEqual({
    isLocal: false,
    host: '0.0.0.0',
    port: 4100,
    metricsPort: undefined,
    logLevel: 'info',
    database: { url: needed.DATABASE_URL, poolSize: 10 },
    identity: { url: needed.IDENTITY_URL, timeoutMs: 2000 },
    kafkaBrokers: [],
    lifetimes: { policies: 3_600_000, principals: 15_000 },
    corsOrigins: [],
    trustedProxies: 0,
    limits: { principal: 600, address: 6000, service: 60_000 },
  });
});

test('local development listens on loopback, unless told otherwise', () => {
  expect(readConfig({ ...needed, APP_ENV: 'local' }).host).toBe('127.0.0.1');
  expect(readConfig({ ...needed, APP_ENV: 'local', HOST: '::' }).host).toBe('::');
});

test('lists are separated by commas', () => {
  const { kafkaBrokers } = readConfig({ ...needed, KAFKA_BROKERS: 'a:9092, b:9092' });
  expect(kafkaBrokers).toEqual(['a:9092', 'b:9092']);
});

test('what does not fit is named, all of it at once, and no value is repeated', () => {
  const read = () =>
    readConfig({
      IDENTITY_URL: 'http://user:secret@identity',
      PORT: '70000',
      PRINCIPAL_CACHE_TTL: '16',
    });
  for (const name of ['DATABASE_URL', 'IDENTITY_URL', 'PORT', 'PRINCIPAL_CACHE_TTL']) {
    expect(read).toThrow(name);
  }
  expect(read).not.toThrow('secret');
});
