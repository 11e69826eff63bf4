import { BackgroundTasks } from '@tessera/background-work';
import { type FairPool, migrate } from '@tessera/database-kit';
import { createPublisher } from '@tessera/event-bus';
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
  readSometimes,
  registerCaches,
  registerOutbox,
  registerPools,
} from '@tessera/telemetry/metrics';
import { createVault, type Vault } from '@tessera/vault';
import type { RequestHandler } from 'express';
import { startHousekeeping } from './background/housekeeping.ts';
import type { Config } from './config.ts';
import { createDatabase, type Database, migrations } from './database.ts';
import { startAccountDeletions } from './features/account-deletion/account-deletion.sweep.ts';
import { ensureBuiltInRoles } from './features/roles/built-in-roles.ts';
import type { Totp } from './features/two-factor/totp.ts';
import { startMail } from './mail/mail.ts';
import { countDroppedMails } from './mail/metrics.ts';
import { MailOutbox } from './mail/outbox.ts';
import { runtimeNotice } from './oauth/oidc-provider.ts';
import { Places } from './origin/places.ts';
import { readBacklog } from './outbox/backlog.ts';
import { startRelay } from './outbox/relay.ts';
import { createServices, type Services } from './services.ts';
import { KeyUses } from './tokens/key-uses.ts';
import { SessionUses } from './tokens/session-uses.ts';
import { SigningKeys } from './tokens/signing-keys.ts';

/** Every long-lived dependency. */
export interface Context extends Services {
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly pool: FairPool;
  readonly database: Database;
  readonly counters: Counters;
  readonly keys: SigningKeys;
  readonly vault: Vault;
  readonly mail: MailOutbox;
  readonly keyUses: KeyUses;
  readonly sessionUses: SessionUses;
  readonly places: Places;
  readonly observers: readonly RequestHandler[];
  /** Migrates the database, then starts the background work. */
  start(): Promise<void>;
  /** Stops everything, in the reverse order. */
  stop(): Promise<void>;
}

/** Dependencies that tests replace. */
export interface Overrides {
  readonly logger?: Logger;
  readonly totp?: Totp;
  /** Whether the background work deletes accounts whose deletion is due. Default true. */
  readonly sweepsAccounts?: boolean;
  /** Middleware that every request passes first. */
  readonly observers?: readonly RequestHandler[];
}

/** Creates every long-lived dependency once. Nothing connects before `start`. */
export const createContext = (config: Config, overrides: Overrides = {}): Context => {
  const logger = overrides.logger ?? createLogger('identity', config.logLevel);
  const databases = createDatabase(config.database, logger);
  const { pool, background: backgroundPool, database } = databases;
  const redis = connectRedis(config.redis);
  const counters = createCounters(redis, 'identity', logger);
  const metrics = createMetrics();
  const { registry } = metrics;
  const vault = createVault(config.keyEncryptionKeys);
  const keys = new SigningKeys(database, vault);
  const keyUses = new KeyUses({ pool: backgroundPool, logger });
  const sessionUses = new SessionUses({ pool: backgroundPool, logger }, config.idleSignOut);
  const mail = new MailOutbox(backgroundPool, vault, config);
  const countDropped = countDroppedMails(registry);
  const background = new BackgroundTasks(logger);
  const places = new Places(config.geoipDatabase, logger);
  const services = createServices({
    config,
    logger,
    pool,
    database,
    counters,
    vault,
    keys,
    keyUses,
    sessionUses,
    mail,
    background,
    places,
    totp: overrides.totp,
    registry,
  });
  registerPools(registry, { primary: pool, background: backgroundPool });
  registerCaches(registry, { tokens: services.authentication.cacheUse });
  // Without a broker, events stay in the outbox on purpose.
  if (config.kafkaBrokers.length > 0) {
    const backlog = readSometimes(
      () => readBacklog(backgroundPool),
      (err) => logger.warn({ err }, 'the outbox could not be counted'),
    );
    registerOutbox(registry, ['kafka'], backlog);
  }
  /** The background work; stopped in the reverse order. */
  const running: { stop(): Promise<void> }[] = [];

  /** Without a configured broker, events stay in the outbox. */
  const relayEvents = (): void => {
    if (config.kafkaBrokers.length === 0) return;
    const publisher = createPublisher({
      brokers: config.kafkaBrokers,
      security: config.kafkaSecurity,
      clientId: 'identity',
      logger,
      // The longest time that a stop waits for a broker that does not respond.
      timeoutMs: 2000,
    });
    const relay = startRelay({
      connectionString: config.database.directUrl,
      publish: (records) => publisher.publish([...records]),
      logger,
    });
    running.push({ stop: () => publisher.close() }, relay);
  };

  return {
    config,
    logger,
    metrics,
    pool,
    database,
    counters,
    keys,
    vault,
    keyUses,
    sessionUses,
    mail,
    places,
    ...services,
    observers: overrides.observers ?? [],

    async start() {
      const { provisioning } = services.tenantAdministration;
      if (runtimeNotice) logger.warn(runtimeNotice);
      await places.start();
      running.push(places);
      await migrate(config.database.directUrl, migrations, logger);
      await ensureBuiltInRoles(database);
      await keys.start();
      keys.watch();
      running.push(keys);
      relayEvents();
      const sender = startMail(config.mail, { outbox: mail, logger, registry, countDropped });
      if (sender) running.push(sender);
      provisioning.start();
      running.push(provisioning);
      running.push(
        startHousekeeping({
          pool: backgroundPool,
          logger,
          retention: config,
          onExpiredMails: (mails) => countDropped('expired', mails),
        }),
      );
      if (overrides.sweepsAccounts ?? true) {
        const repository = services.accountDeletionRepository;
        running.push(startAccountDeletions({ repository, logger }));
      }
      keyUses.start();
      running.push(keyUses);
      sessionUses.start();
      running.push(sessionUses);
    },

    async stop() {
      await background.stop();
      for (const part of running.splice(0).reverse()) await part.stop();
      await redis?.stop();
      await databases.close();
    },
  };
};
