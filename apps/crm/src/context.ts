import { migrate } from '@tessera/database-kit';
import {
  type Counters,
  createCounters,
  createLogger,
  createMetrics,
  type Logger,
  type Metrics,
} from '@tessera/http-kit';
import {
  createFakeResourceServer,
  createResourceServer,
  type ResourceServer,
} from '@tessera/resource-server';
import { createVault, type Vault } from '@tessera/vault';
import type { RequestHandler } from 'express';
import type { Pool } from 'pg';
import type { Config } from './config.ts';
import { createDatabase, type Database, migrations } from './database.ts';
import type { CrmPermission } from './http.ts';
import { prepareTenantRole } from './row-level-security.ts';

type Access = ResourceServer<CrmPermission>;

/** Every long-lived dependency. */
export interface Context {
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly pool: Pool;
  readonly database: Database;
  readonly counters: Counters;
  readonly access: Access;
  /** Seals what is stored encrypted; none where no key is configured. */
  readonly vault: Vault | undefined;
  readonly observers: readonly RequestHandler[];
  /** Brings the database up to date, then starts what runs in the background. */
  start(): Promise<void>;
  /** Ends in the opposite order. */
  stop(): Promise<void>;
}

/** What tests put in the place of the real thing. */
export interface Overrides {
  readonly logger?: Logger;
  /** What lifetimes are measured with, in milliseconds since the epoch. */
  readonly clock?: () => number;
  /** See every request before it is routed. */
  readonly observers?: readonly RequestHandler[];
}

/** Who calls is for identity to say, but in local development without one (decision C16). */
const accessOf = (config: Config, logger: Logger, clock: Overrides['clock']): Access => {
  const { fakeAuth } = config;
  if (typeof fakeAuth === 'object') {
    logger.warn(fakeAuth, 'fake authentication: everybody is taken for this caller');
    return createFakeResourceServer('crm', fakeAuth);
  }
  if (fakeAuth === 'ignored') {
    logger.error('CRM_FAKE_AUTH is ignored: it is honoured only where APP_ENV is "local"');
  }
  return createResourceServer({ ...config, service: 'crm', logger, ...(clock && { clock }) });
};

/** Makes every long-lived dependency once. Nothing connects before `start`. */
export const createContext = (config: Config, overrides: Overrides = {}): Context => {
  const logger = overrides.logger ?? createLogger('crm', config.logLevel);
  const { clock, observers = [] } = overrides;
  const database = createDatabase({ ...config.database, redis: config.redis }, logger);
  const counters = createCounters(config.redis, 'crm', logger);
  const access = accessOf(config, logger, clock);
  return {
    config,
    logger,
    metrics: createMetrics(),
    pool: database.pool,
    database,
    counters,
    access,
    vault: config.keyEncryptionKeys.length > 0 ? createVault(config.keyEncryptionKeys) : undefined,
    observers,

    async start() {
      await migrate(config.database.directUrl, migrations, logger);
      if (config.database.rowSecurity) await prepareTenantRole(database.pool);
      await access.start();
    },

    async stop() {
      await access.stop();
      await counters.stop();
      await database.close();
    },
  };
};
