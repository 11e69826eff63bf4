import { randomBytes } from 'node:crypto';
import { createResponseChecker, documentOf, type OpenApiDocument } from '@tessera/conformance';
import { migrate } from '@tessera/database-kit';
import { listen } from '@tessera/http-kit';
import { freshDatabase } from '@tessera/local-stack';
import request, { type Agent } from 'supertest';
import { createApp } from '../app.ts';
import { readConfig } from '../config.ts';
import { type Context, createContext, type Overrides } from '../context.ts';
import { migrations } from '../database.ts';
import { createContractChecker } from './contract-checker.ts';
import { Population } from './population.ts';

/** Identity as it runs, on a database of its own. */
export interface TestIdentity {
  readonly context: Context;
  readonly document: OpenApiDocument;
  readonly url: string;
  /** Sends requests: `http.get('/api/me').set(bearer)`. */
  readonly http: Agent;
  /** Makes tenants, roles and users, and signs them in. */
  readonly people: Population;
  /** Stops it, and throws where an answer was not as its operation or its contract declares. */
  stop(): Promise<void>;
}

/** A short way of hashing and no limits: what a test is not about must not be in its way. */
export const testEnvironment = (databaseUrl: string): Record<string, string> => ({
  APP_ENV: 'test',
  STOP_DELAY_SECONDS: '0',
  HOST: '127.0.0.1',
  PORT: '0',
  DATABASE_URL: databaseUrl,
  // Tests make several transactions of one tenant wait for each other, which has a part of the pool.
  DATABASE_POOL_SIZE: '20',
  ISSUER: 'https://identity.test',
  KEY_ENCRYPTION_KEYS: `test:${randomBytes(32).toString('base64')}`,
  BCRYPT_COST: '4',
  LOG_LEVEL: 'silent',
  RATE_LIMIT_LOGIN: '1000000',
  RATE_LIMIT_LOGIN_FAILURES: '1000000',
  RATE_LIMIT_CLIENT_FAILURES: '1000000',
  RATE_LIMIT_CLIENT_FAILURES_ADDRESS: '1000000',
  RATE_LIMIT_CLIENT_FAILURES_TOTAL: '1000000',
  RATE_LIMIT_TWO_FACTOR: '1000000',
  RATE_LIMIT_PIN: '1000000',
  RATE_LIMIT_PASSWORD: '1000000',
  RATE_LIMIT_PASSWORD_FORGOT: '0',
  RATE_LIMIT_DEFAULT: '0',
  RATE_LIMIT_ADDRESS: '0',
  RATE_LIMIT_PUBLIC: '0',
  RATE_LIMIT_FORM: '0',
  RATE_LIMIT_SERVICE: '0',
  RATE_LIMIT_SERVICE_PRINCIPAL: '0',
});

/** A migrated database that nobody else uses. */
export const identityDatabase = async (): Promise<string> => {
  const { url } = await freshDatabase('identity', (template) => migrate(template, migrations));
  return url;
};

export interface TestOptions {
  /** Whether each response is compared with the document and the contracts, in this process. Default true. */
  readonly checksResponses?: boolean;
}

/** Starts identity on a fresh database, or on the one in `environment`; variables and parts may be replaced. */
export const startIdentity = async (
  environment: Readonly<Record<string, string>> = {},
  overrides: Overrides = {},
  { checksResponses = true }: TestOptions = {},
): Promise<TestIdentity> => {
  const databaseUrl = environment.DATABASE_URL ?? (await identityDatabase());
  const config = readConfig({ ...testEnvironment(databaseUrl), ...environment });
  const answers = createResponseChecker(() => documentOf(made, environment, createApp));
  const contracts = createContractChecker();
  const context = createContext(config, {
    ...overrides,
    observers: [
      ...(checksResponses ? [answers.observe, contracts.observe] : []),
      ...(overrides.observers ?? []),
    ],
  });
  const made = createApp(context);
  await context.start();
  const server = await listen(made.app, { ...config, variable: 'PORT' });
  const http = request(server.url) as unknown as Agent;
  return {
    context,
    get document() {
      return documentOf(made, environment, createApp);
    },
    url: server.url,
    http,
    people: new Population(context.database, http, config.passwords.cost),
    async stop() {
      await server.stop();
      await context.stop();
      if (!checksResponses) return;
      answers.verify();
      contracts.verify();
    },
  };
};
