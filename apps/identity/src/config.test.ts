import { readConfig } from './config.ts';

const required = {
  DATABASE_URL: 'postgresql://localhost/identity',
  ISSUER: 'https://id.example',
  KEY_ENCRYPTION_KEYS: `first:${Buffer.alloc(32, 1).toString('base64')}`,
};

describe('the configuration', () => {
  test('has the defaults of the specification', () => {
    expect(readConfig(required)).toMatchObject({
      isLocal: false,
      host: '0.0.0.0',
      port: 4000,
      kafkaBrokers: [],
      corsOrigins: [],
      trustedProxies: 0,
      lifetimes: {
        accessToken: 3600,
        session: 30 * 86_400,
        remembered: 30 * 86_400,
        personalAccessToken: 86_400,
        reuseGrace: 0,
      },
      passwords: { cost: 12 },
      limits: {
        login: 5,
        loginFailures: 5,
        principal: 60,
        address: 600,
        public: 60,
        service: 60_000,
        servicePrincipal: 1200,
      },
    });
  });

  test('listens on loopback in local mode', () => {
    expect(readConfig({ ...required, APP_ENV: 'local' })).toMatchObject({
      isLocal: true,
      host: '127.0.0.1',
    });
  });

  test('reads lists in their order', () => {
    const second = Buffer.alloc(32, 2);
    const { keyEncryptionKeys, kafkaBrokers } = readConfig({
      ...required,
      KEY_ENCRYPTION_KEYS: `second:${second.toString('base64')},${required.KEY_ENCRYPTION_KEYS}`,
      KAFKA_BROKERS: 'a:9092, b:9092',
    });
    expect(keyEncryptionKeys.map(({ id }) => id)).toEqual(['second', 'first']);
    expect(keyEncryptionKeys[0]?.secret).toEqual(second);
    expect(kafkaBrokers).toEqual(['a:9092', 'b:9092']);
  });

  test.each([
    ['DATABASE_URL', undefined],
    ['WORKERS', '0'],
    ['WORKERS', '-1'],
    ['WORKERS', 'abc'],
    ['ISSUER', 'https://id.example/'],
    ['ISSUER', 'https://id.example/path'],
    ['KEY_ENCRYPTION_KEYS', `short:${Buffer.alloc(16).toString('base64')}`],
    ['BCRYPT_COST', '3'],
    ['TRUSTED_PROXIES', 'all'],
    ['ACCESS_TOKEN_TTL', '0'],
    ['LOG_LEVEL', 'loud'],
    ['RATE_LIMIT_LOGIN', '0'],
    ['RATE_LIMIT_TWO_FACTOR', '0'],
    ['RATE_LIMIT_PIN', '0'],
    ['RATE_LIMIT_PASSWORD', '0'],
  ])('names %s when it is %s', (name, value) => {
    expect(() => readConfig({ ...required, [name]: value })).toThrow(name);
  });
});
