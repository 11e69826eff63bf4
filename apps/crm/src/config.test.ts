import { fixedPrincipal } from '@tessera/local-stack';
import { readConfig } from './config.ts';

const needed = { DATABASE_URL: 'postgresql://localhost/crm', IDENTITY_URL: 'http://identity:4000' };

test('few settings are required', () => {
  expect(readConfig(needed)).toEqual({
    isLocal: false,
    host: '0.0.0.0',
    port: 4100,
    metricsPort: undefined,
    workers: 1,
    logLevel: 'info',
    logsHealthChecks: true,
    redis: { url: undefined, timeoutMs: 500 },
    database: {
      url: needed.DATABASE_URL,
      directUrl: needed.DATABASE_URL,
      pooler: false,
      poolSize: 10,
      backgroundPoolSize: 8,
      readUrl: undefined,
      rowSecurity: true,
      distributed: false,
    },
    identity: { url: needed.IDENTITY_URL, timeoutMs: 2000, client: undefined },
    streamsPerCaller: 20,
    systemTokens: [],
    keyEncryptionKeys: [],
    fakeAuth: undefined,
    files: {
      path: 'files',
      s3: undefined,
      maxBytes: 5 * 1024 ** 3,
      defaultQuota: undefined,
      uploads: { perCaller: 10, perTenant: 50, perInstance: 200 },
    },
    outbound: { allowedNetworks: [], twilioUrl: 'https://api.twilio.com' },
    kafkaBrokers: [],
    kafkaSecurity: undefined,
    lifetimes: { policies: 3_600_000, principals: 15_000 },
    corsOrigins: [],
    trustedProxies: 0,
    publicUrl: 'http://localhost:4100',
    limits: {
      principal: 600,
      address: 6000,
      service: 60_000,
      link: 120,
      linkTotal: 600,
      public: 300,
      publicTenant: 6000,
      publicXml: 60,
      bot: 120,
    },
  });
});

test('an invalid network is refused and not quoted', () => {
  const environment = { ...needed, OUTBOUND_ALLOWED_NETWORKS: '10.0.0.0/8,10.0.0.1/99' };
  expect(() => readConfig(environment)).toThrow(
    'The configuration has an invalid network in OUTBOUND_ALLOWED_NETWORKS.',
  );
});

test('a read replica and several workers need Redis', () => {
  const several = { ...needed, DATABASE_READ_URL: 'postgresql://replica/crm', WORKERS: '2' };
  expect(() => readConfig(several)).toThrow(
    'The configuration lacks REDIS_URL, which DATABASE_READ_URL needs with WORKERS above 1.',
  );
  expect(readConfig({ ...several, REDIS_URL: 'redis://localhost' }).workers).toBe(2);
  expect(readConfig({ ...several, WORKERS: '1' }).workers).toBe(1);
});

test('distributed tables have neither row-level security nor a read replica', () => {
  const distributed = { ...needed, DATABASE_DISTRIBUTED: 'true' };
  expect(() => readConfig(distributed)).toThrow(
    'DATABASE_DISTRIBUTED needs DATABASE_ROW_SECURITY=false.',
  );
  const unprotected = { ...distributed, DATABASE_ROW_SECURITY: 'false' };
  expect(readConfig(unprotected).database.distributed).toBe(true);
  expect(() =>
    readConfig({ ...unprotected, DATABASE_READ_URL: 'postgresql://replica/crm' }),
  ).toThrow('DATABASE_READ_URL cannot be combined with DATABASE_DISTRIBUTED.');
});

test('the client at identity needs an id and a secret', () => {
  const [id, secret] = [{ IDENTITY_CLIENT_ID: 'crm' }, { IDENTITY_CLIENT_SECRET: 'x' }];
  expect(readConfig({ ...needed, ...id, ...secret }).identity.client).toEqual({
    id: 'crm',
    secret: 'x',
  });
  expect(() => readConfig({ ...needed, ...id })).toThrow('lacks IDENTITY_CLIENT_SECRET');
  expect(() => readConfig({ ...needed, ...secret })).toThrow('lacks IDENTITY_CLIENT_ID');
});

test('local development listens on loopback unless configured otherwise', () => {
  expect(readConfig({ ...needed, APP_ENV: 'local' }).host).toBe('127.0.0.1');
  expect(readConfig({ ...needed, APP_ENV: 'local', HOST: '::' }).host).toBe('::');
});

describe('files in S3', () => {
  const inS3 = { ...needed, FILE_STORE: 's3', FILE_STORE_S3_BUCKET: 'crm-files' };

  test('need a bucket', () => {
    expect(readConfig(inS3).files.s3).toMatchObject({
      bucket: 'crm-files',
      region: 'us-east-1',
      endpoint: undefined,
      credentials: undefined,
    });
    expect(() => readConfig({ ...needed, FILE_STORE: 's3' })).toThrow(
      'lacks FILE_STORE_S3_BUCKET, which FILE_STORE=s3 needs',
    );
  });

  test('need an access key with its secret, or neither', () => {
    const key = { FILE_STORE_S3_ACCESS_KEY_ID: 'id', FILE_STORE_S3_SECRET_ACCESS_KEY: 'secret' };
    expect(readConfig({ ...inS3, ...key }).files.s3?.credentials).toEqual({
      accessKeyId: 'id',
      secretAccessKey: 'secret',
    });
    for (const [name, value] of Object.entries(key)) {
      expect(() => readConfig({ ...inS3, [name]: value })).toThrow('or neither');
    }
  });

  test.each([
    ['FILE_STORE', 'disk'],
    ['FILE_STORE_S3_BUCKET', 'Files/x'],
    ['FILE_STORE_S3_ENDPOINT', 'localhost:9000'],
    ['FILE_STORE_S3_PREFIX', '/tessera'],
  ])('are refused if %s is %s', (name, value) => {
    expect(() => readConfig({ ...inS3, [name]: value })).toThrow(name);
  });
});

describe('fake authentication', () => {
  const local = { DATABASE_URL: needed.DATABASE_URL, APP_ENV: 'local', CRM_FAKE_AUTH: 'true' };

  test('is off by default and if set to "false"', () => {
    for (const CRM_FAKE_AUTH of [undefined, '', 'false']) {
      expect(readConfig({ ...needed, ...local, CRM_FAKE_AUTH }).fakeAuth).toBeUndefined();
      expect(readConfig({ ...needed, CRM_FAKE_AUTH }).fakeAuth).toBeUndefined();
    }
  });

  test('needs only the flag in the environment "local"', () => {
    expect(readConfig(local).fakeAuth).toEqual({
      userId: expect.any(String),
      tenantId: expect.any(String),
      isAdmin: true,
    });
    expect(readConfig({ ...local, CRM_FAKE_AUTH_IS_ADMIN: 'false' }).fakeAuth).toMatchObject({
      isAdmin: false,
    });
  });

  test("treats every caller as the identity stub's user, so that both see the same records", () => {
    const { id, tenant_id } = fixedPrincipal();
    expect(readConfig(local).fakeAuth).toMatchObject({ userId: id, tenantId: tenant_id });
  });

  test.each([undefined, 'production', 'test', 'LOCAL', ' local'])(
    'is ignored if APP_ENV is %j, whatever its settings',
    (APP_ENV) => {
      for (const CRM_FAKE_AUTH of ['true', '1', 'yes']) {
        const asked = { ...needed, ...local, APP_ENV, CRM_FAKE_AUTH, CRM_FAKE_AUTH_USER_ID: 'x' };
        expect(readConfig(asked).fakeAuth).toBe('ignored');
      }
    },
  );

  test('does not make IDENTITY_URL optional if it is ignored', () => {
    expect(() => readConfig({ ...local, APP_ENV: 'production' })).toThrow('IDENTITY_URL');
  });

  test('with invalid values is rejected, naming them', () => {
    const read = () => readConfig({ ...local, CRM_FAKE_AUTH: 'yes', CRM_FAKE_AUTH_USER_ID: 'me' });
    for (const name of ['CRM_FAKE_AUTH ', 'CRM_FAKE_AUTH_USER_ID']) expect(read).toThrow(name);
  });
});

test('lists are separated by commas', () => {
  const { kafkaBrokers } = readConfig({ ...needed, KAFKA_BROKERS: 'a:9092, b:9092' });
  expect(kafkaBrokers).toEqual(['a:9092', 'b:9092']);
});

describe('Kafka', () => {
  const read = (variables: Record<string, string>) => readConfig({ ...needed, ...variables });

  test('is reached with TLS, and with a user, if the variables say so', () => {
    const tls = { KAFKA_TLS: 'true' };
    expect(read(tls).kafkaSecurity).toEqual({ ca: undefined, sasl: undefined });
    const user = { KAFKA_USERNAME: 'crm', KAFKA_PASSWORD: 'x' };
    expect(read({ ...tls, ...user, KAFKA_CA: 'PEM' }).kafkaSecurity).toEqual({
      ca: 'PEM',
      sasl: { mechanism: 'scram-sha-512', username: 'crm', password: 'x' },
    });
  });

  test.each([
    ['KAFKA_CA requires KAFKA_TLS', { KAFKA_CA: 'PEM' }],
    ['KAFKA_USERNAME requires KAFKA_TLS', { KAFKA_USERNAME: 'crm', KAFKA_PASSWORD: 'x' }],
    ['KAFKA_USERNAME requires KAFKA_PASSWORD', { KAFKA_TLS: 'true', KAFKA_USERNAME: 'crm' }],
    ['KAFKA_PASSWORD requires KAFKA_USERNAME', { KAFKA_TLS: 'true', KAFKA_PASSWORD: 'x' }],
  ])('%s', (problem, variables) => {
    expect(() => read(variables)).toThrow(problem);
  });
});

test('all invalid variables are named at once, and no value is repeated', () => {
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

test('system tokens require an encryption key for the credentials that are stored with them', () => {
  const SYSTEM_TOKENS = 'x'.repeat(32);
  expect(() => readConfig({ ...needed, SYSTEM_TOKENS })).toThrow('KEY_ENCRYPTION_KEYS');
  const KEY_ENCRYPTION_KEYS = `one:${Buffer.alloc(32).toString('base64')}`;
  expect(readConfig({ ...needed, SYSTEM_TOKENS, KEY_ENCRYPTION_KEYS })).toMatchObject({
    systemTokens: [SYSTEM_TOKENS],
    keyEncryptionKeys: [{ id: 'one' }],
  });
  expect(() => readConfig({ ...needed, SYSTEM_TOKENS: 'short' })).toThrow('SYSTEM_TOKENS');
});
