import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createResponseChecker, documentOf, type OpenApiDocument } from '@tessera/conformance';
import { type CrmPermission, crmPermissions } from '@tessera/contracts';
import { migrate } from '@tessera/database-kit';
import { listen, type RouteGroups } from '@tessera/http-kit';
import { freshDatabase } from '@tessera/local-stack';
import {
  IdentityStandIn,
  type PersonOptions,
  STAND_IN_CLIENT,
} from '@tessera/resource-server/testing';
import type { Policy } from '@tessera/scope-matcher';
import request, { type Agent } from 'supertest';
import { createApp } from '../app.ts';
import { readConfig } from '../config.ts';
import { type Context, createContext, type Overrides } from '../context.ts';
import { migrations } from '../database.ts';
import { distributedCrmDatabase, onCitus } from './distributed-tables.ts';
import { onPartitions, partitionTables, sendPlans } from './partitioned-tables.ts';
import { ShardStatements } from './shard-statements.ts';
import { StatementPlans } from './statement-plans.ts';

export interface CallerOptions extends PersonOptions {
  /** `acme` by default. */
  readonly tenant?: 'acme' | 'globex';
  /** All permissions of CRM by default. */
  readonly permissions?: readonly CrmPermission[];
  /** Permissions that a policy denies, even if others allow them. */
  readonly lacking?: readonly string[];
}

/** CRM with its own database and a stand-in for identity. */
export interface TestCrm {
  readonly context: Context;
  readonly document: OpenApiDocument;
  readonly url: string;
  /** Sends requests: `http.get('/api/crm/contacts').set(headers)`. */
  readonly http: Agent;
  readonly identity: IdentityStandIn;
  /** Signs in a new user and returns the headers of their requests. */
  caller(options?: CallerOptions): Record<string, string>;
  /** The headers of a service that acts in a tenant. */
  system(tenant?: 'acme' | 'globex'): Record<string, string>;
  /**
   * Stops CRM. Throws if a response did not match its operation, or if a statement touched several partitions or
   * shards.
   */
  stop(): Promise<void>;
}

export const SYSTEM_TOKEN = randomBytes(32).toString('base64url');

/** The environment of CRM in tests, without rate limits. */
export const testEnvironment = (
  databaseUrl: string,
  identityUrl: string,
): Record<string, string> => ({
  APP_ENV: 'test',
  STOP_DELAY_SECONDS: '0',
  HOST: '127.0.0.1',
  PORT: '0',
  DATABASE_URL: databaseUrl,
  // Tests make several transactions of one tenant wait for each other, which has a part of the pool.
  DATABASE_POOL_SIZE: '20',
  DATABASE_ROW_SECURITY: `${!onPartitions && !onCitus}`,
  DATABASE_DISTRIBUTED: `${onCitus}`,
  IDENTITY_URL: identityUrl,
  // A busy machine may pause the process for longer than the default.
  IDENTITY_TIMEOUT_MS: '20000',
  IDENTITY_CLIENT_ID: STAND_IN_CLIENT.id,
  IDENTITY_CLIENT_SECRET: STAND_IN_CLIENT.secret,
  SYSTEM_TOKENS: SYSTEM_TOKEN,
  KEY_ENCRYPTION_KEYS: `test:${randomBytes(32).toString('base64')}`,
  FILE_STORE_PATH: join(tmpdir(), `crm-files-${process.pid}`),
  LOG_LEVEL: 'silent',
  RATE_LIMIT_DEFAULT: '0',
  RATE_LIMIT_ADDRESS: '0',
  RATE_LIMIT_SERVICE: '0',
  RATE_LIMIT_LINK: '0',
  RATE_LIMIT_PUBLIC: '0',
  RATE_LIMIT_PUBLIC_XML: '0',
  RATE_LIMIT_PUBLIC_TENANT: '0',
  RATE_LIMIT_BOT: '0',
});

const crmPermissionNames = Object.keys(crmPermissions) as CrmPermission[];

/** A migrated database of its own, in which every table is partitioned by tenant and the server sends plans. */
export const partitionedCrmDatabase = async (): Promise<string> => {
  const { url } = await freshDatabase('crm_partitioned', async (template) => {
    await migrate(template, migrations);
    await partitionTables(template);
  });
  await sendPlans(url);
  return url;
};

/**
 * A migrated database of its own, with partitioned tables under `npm run test:partitions` and distributed ones under
 * `npm run test:citus`.
 */
export const crmDatabase = async (): Promise<string> => {
  if (onPartitions) return partitionedCrmDatabase();
  if (onCitus) return distributedCrmDatabase();
  const { url } = await freshDatabase('crm', (template) => migrate(template, migrations));
  return url;
};

const policiesOf = (held: readonly string[], lacking: readonly string[]): Policy[] => [
  ...held.map((name): Policy => ({ action: `tenant.*.crm.${name}`, effect: 'allow' })),
  ...lacking.map((name): Policy => ({ action: `tenant.*.crm.${name}`, effect: 'deny' })),
];

type FurtherGroups = (context: Context) => RouteGroups;

const withoutFurtherGroups: FurtherGroups = () => ({});

export interface TestOptions {
  /** Whether each response is compared with the document, in this process. Default true. */
  readonly checksResponses?: boolean;
}

/**
 * Starts CRM with a new database, or with the one in `environment`. Settings and dependencies can be
 * overridden.
 */
export const startCrm = async (
  environment: Readonly<Record<string, string>> = {},
  overrides: Overrides = {},
  furtherGroups: FurtherGroups = withoutFurtherGroups,
  { checksResponses = true }: TestOptions = {},
): Promise<TestCrm> => {
  const identity = await new IdentityStandIn().start();
  const databaseUrl = environment.DATABASE_URL ?? (await crmDatabase());
  const config = readConfig({ ...testEnvironment(databaseUrl, identity.url), ...environment });
  const answers = createResponseChecker(() => documentOf(made, environment, furtherGroups));
  const isOwnIdentity = config.identity.url === identity.url && config.kafkaBrokers.length === 0;
  const context = createContext(config, {
    consumeEvents: isOwnIdentity ? identity.events.consume : undefined,
    ...overrides,
    observers: [...(checksResponses ? [answers.observe] : []), ...(overrides.observers ?? [])],
  });
  const plans = onPartitions ? new StatementPlans(context.pool) : undefined;
  const shards = onCitus ? new ShardStatements(context.pool, databaseUrl) : undefined;
  const made = createApp(context, furtherGroups(context));
  const end = async (): Promise<void> => {
    await context.stop();
    await identity.stop();
  };
  await context.start().catch(async (error) => {
    await end();
    throw error;
  });
  const server = await listen(made.app, { ...config, variable: 'PORT' });
  return {
    context,
    get document() {
      return documentOf(made, environment, furtherGroups);
    },
    url: server.url,
    http: request(server.url) as unknown as Agent,
    identity,
    caller({ tenant = 'acme', permissions = crmPermissionNames, lacking = [], ...person } = {}) {
      const policies = policiesOf(permissions, lacking);
      return { ...identity.signIn({ tenants: [identity[tenant]], policies, ...person }).headers };
    },
    system: (tenant = 'acme') => ({
      'x-system-token': SYSTEM_TOKEN,
      'x-tenant-id': identity[tenant].id,
    }),
    async stop() {
      await server.stop();
      await end();
      if (checksResponses) answers.verify();
      plans?.verify();
      await shards?.verify();
    },
  };
};
