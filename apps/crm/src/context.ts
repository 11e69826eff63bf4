import type { PeriodicWork } from '@tessera/background-work';
import { JobQueue } from '@tessera/background-work/jobs';
import { type FairPool, migrate } from '@tessera/database-kit';
import type { FileStore } from '@tessera/file-store';
import {
  type Counters,
  connectRedis,
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
  type ResourceServerOptions,
} from '@tessera/resource-server';
import { registerPools } from '@tessera/telemetry/metrics';
import { createVault, type Vault } from '@tessera/vault';
import type { RequestHandler } from 'express';
import { ActiveTenants } from './absent-callers/active-tenants.ts';
import { ClusterWatch } from './cluster-watch.ts';
import type { Config } from './config.ts';
import { createDatabase, type Database, JOB_SCHEMA, migrations } from './database.ts';
import { requireDistribution } from './distribution.ts';
import { registerEventMetrics } from './events/event-metrics.ts';
import { type EventPublisher, startEventPublisher } from './events/event-publisher.ts';
import { ChatStreams } from './features/chat/streams/chat-streams.ts';
import { startEventExpiry } from './features/chat/streams/expired-events.ts';
import { startValueRemoval } from './features/custom-fields/value-removal.ts';
import { overdueDeletions } from './features/documents/overdue-deletions.ts';
import { startFailureExpiry } from './features/imports/failure-expiry.ts';
import { startWebhookWork } from './features/webhooks/open-webhooks.ts';
import { openFileStore } from './files/store.ts';
import { startFileSweep } from './files/sweep.ts';
import type { CrmPermission } from './http.ts';
import { startKeyExpiry } from './idempotency/expired-keys.ts';
import { type Outbound, openOutbound } from './messaging/outbound.ts';
import { prepareTenantRole, TENANT_ROLE } from './row-level-security.ts';

type Access = ResourceServer<CrmPermission>;

/** Every long-lived dependency. */
export interface Context {
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly pool: FairPool;
  readonly database: Database;
  readonly counters: Counters;
  /** The workers of the database, if it is a Citus cluster. */
  readonly cluster: ClusterWatch | undefined;
  readonly access: Access;
  readonly activeTenants: ActiveTenants;
  /** Jobs that changes enqueue in their transactions; the services register their handlers. */
  readonly jobs: JobQueue;
  /** The open streams of the chat. */
  readonly chatStreams: ChatStreams;
  /** Encrypts stored secrets; undefined if no key is configured. */
  readonly vault: Vault | undefined;
  /** Where files are kept. */
  readonly fileStore: FileStore;
  /** Sends to servers that tenants have configured. */
  readonly outbound: Outbound;
  readonly observers: readonly RequestHandler[];
  /** The current time in milliseconds since the epoch, for the expiry of cached data. */
  clock(): number;
  /** Migrates the database, then starts the background work. */
  start(): Promise<void>;
  /** Stops everything in reverse order. */
  stop(): Promise<void>;
}

/** Replacements for tests. */
export interface Overrides {
  readonly logger?: Logger;
  /** The current time in milliseconds since the epoch, for the expiry of cached data. */
  readonly clock?: () => number;
  /** Whether jobs are enqueued and never run. */
  readonly enqueueOnly?: boolean;
  /** Called for every request before it is routed. */
  readonly observers?: readonly RequestHandler[];
  /** Consumes identity's events in place of a Kafka consumer. */
  readonly consumeEvents?: ResourceServerOptions['consumeEvents'];
}

/** Identity authenticates callers, except in local development with fake authentication (decision C16). */
const accessOf = (
  config: Config,
  logger: Logger,
  options: Pick<ResourceServerOptions, 'clock' | 'consumeEvents'>,
): Access => {
  const { fakeAuth } = config;
  if (typeof fakeAuth === 'object') {
    logger.warn(fakeAuth, 'fake authentication is on: every request is handled as this caller');
    return createFakeResourceServer('crm', fakeAuth);
  }
  if (fakeAuth === 'ignored') {
    logger.error('CRM_FAKE_AUTH is ignored because APP_ENV is not "local"');
  }
  return createResourceServer({ ...config, service: 'crm', logger, ...options });
};

/** Creates the long-lived dependencies. Nothing connects before `start`. */
export const createContext = (config: Config, overrides: Overrides = {}): Context => {
  const logger = overrides.logger ?? createLogger('crm', config.logLevel);
  const { clock = Date.now, observers = [], consumeEvents } = overrides;
  const redis = connectRedis(config.redis);
  const database = createDatabase(
    {
      ...config.database,
      redis,
      publishesEvents: config.kafkaBrokers.length > 0,
    },
    logger,
  );
  const counters = createCounters(redis, 'crm', logger);
  const access = accessOf(config, logger, { clock, consumeEvents });
  let keyExpiry: PeriodicWork | undefined;
  const metrics = createMetrics();
  const { background } = database;
  registerEventMetrics({
    pool: background.pool,
    registry: metrics.registry,
    logger,
    progress: () => access.progress(),
    stream: () => access.stream(),
  });
  registerPools(metrics.registry, database.pools);
  const cluster = config.database.distributed
    ? new ClusterWatch(background.pool, logger, metrics.registry)
    : undefined;
  const queue = new JobQueue({
    pool: background.pool,
    directUrl: config.database.directUrl,
    schema: JOB_SCHEMA,
    logger,
    registry: metrics.registry,
    enqueueOnly: overrides.enqueueOnly,
    enqueuingRole: config.database.rowSecurity ? TENANT_ROLE : undefined,
  });
  const { directUrl } = config.database;
  const chatStreams = new ChatStreams({ database, directUrl, logger });
  const vault =
    config.keyEncryptionKeys.length > 0 ? createVault(config.keyEncryptionKeys) : undefined;
  const fileStore = openFileStore(config.files, vault);
  const outbound = openOutbound(config.outbound);
  let valueRemoval: PeriodicWork | undefined;
  let failureExpiry: PeriodicWork | undefined;
  let eventExpiry: PeriodicWork | undefined;
  let fileSweep: PeriodicWork | undefined;
  let eventPublisher: EventPublisher | undefined;
  let webhookWork: PeriodicWork | undefined;
  return {
    config,
    logger,
    metrics,
    pool: database.pool,
    database,
    counters,
    cluster,
    access,
    jobs: queue,
    chatStreams,
    vault,
    fileStore,
    outbound,
    observers,
    activeTenants: new ActiveTenants(access, clock),
    clock,

    async start() {
      await migrate(config.database.directUrl, migrations, logger);
      await requireDistribution(database.pool, config.database.distributed);
      await cluster?.start();
      if (config.database.rowSecurity) await prepareTenantRole(database.pool);
      // Everything else works without files, and the store may be back before somebody needs it.
      await fileStore
        .prepare()
        .catch((err: unknown) => logger.error({ err }, 'the file store cannot be used'));
      await access.start();
      keyExpiry = startKeyExpiry(background.pool, logger);
      await queue.start();
      valueRemoval = startValueRemoval(background, logger);
      failureExpiry = startFailureExpiry(background, logger);
      eventExpiry = startEventExpiry(background.pool, logger);
      fileSweep = startFileSweep(
        { database: background, store: fileStore, jobs: queue, logger, overdue: overdueDeletions },
        metrics.registry,
      );
      if (!overrides.enqueueOnly) {
        webhookWork = startWebhookWork({ config, database, jobs: queue, logger });
      }
      chatStreams.start();
      eventPublisher = startEventPublisher(config, logger);
    },

    async stop() {
      await eventPublisher?.stop();
      await chatStreams.stop();
      await webhookWork?.stop();
      await fileSweep?.stop();
      await eventExpiry?.stop();
      await failureExpiry?.stop();
      await valueRemoval?.stop();
      await keyExpiry?.stop();
      await access.stop();
      await queue.stop();
      await outbound.close();
      await redis?.stop();
      await cluster?.stop();
      await database.close();
    },
  };
};
