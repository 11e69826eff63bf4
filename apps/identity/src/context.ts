import { migrate } from '@tessera/database-kit';
import { createPublisher } from '@tessera/event-bus';
import { createLogger, createMetrics, type Logger, type Metrics } from '@tessera/http-kit';
import type { RequestHandler } from 'express';
import type { Pool } from 'pg';
import type { Config } from './config.ts';
import { createDatabase, type Database, migrations } from './database.ts';
import { createVault } from './encryption.ts';
import { MeRepository } from './features/me/me.repository.ts';
import { MeService } from './features/me/me.service.ts';
import { MembersRepository } from './features/members/members.repository.ts';
import { MembersService } from './features/members/members.service.ts';
import { PoliciesService } from './features/policies/policies.service.ts';
import { ProfileRepository } from './features/profile/profile.repository.ts';
import { ProfileService } from './features/profile/profile.service.ts';
import { ensureBuiltInRoles } from './features/roles/built-in-roles.ts';
import { failedAttempts } from './features/sign-in/failed-attempts.ts';
import { SignInRepository } from './features/sign-in/sign-in.repository.ts';
import { SignInService } from './features/sign-in/sign-in.service.ts';
import { startHousekeeping } from './housekeeping.ts';
import { startMail } from './mail/mail.ts';
import { MailOutbox } from './mail/outbox.ts';
import { AuthorizationServer } from './oauth/user/server.ts';
import { startRelay } from './outbox/relay.ts';
import { Passwords } from './passwords.ts';
import { sessionCookie } from './session-cookie.ts';
import { Authentication } from './tokens/authenticate.ts';
import { issueTokens } from './tokens/issue.ts';
import { SigningKeys } from './tokens/signing-keys.ts';

/** Every long-lived dependency. */
export interface Context {
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly pool: Pool;
  readonly database: Database;
  readonly keys: SigningKeys;
  readonly mail: MailOutbox;
  readonly authentication: Authentication;
  readonly authorizationServer: AuthorizationServer;
  readonly signIn: SignInService;
  readonly me: MeService;
  readonly profiles: ProfileService;
  readonly policies: PoliciesService;
  readonly members: MembersService;
  readonly observers: readonly RequestHandler[];
  /** Brings the database up to date, then starts what runs in the background. */
  start(): Promise<void>;
  /** Ends in the opposite order. */
  stop(): Promise<void>;
}

/** What tests put in the place of the real thing. */
export interface Overrides {
  readonly logger?: Logger;
  /** See every request before it is routed. */
  readonly observers?: readonly RequestHandler[];
}

/** Makes every long-lived dependency once. Nothing connects before `start`. */
export const createContext = (config: Config, overrides: Overrides = {}): Context => {
  const logger = overrides.logger ?? createLogger('identity', config.logLevel);
  const { pool, database } = createDatabase(config.database, logger);
  const vault = createVault(config.keyEncryptionKeys);
  const keys = new SigningKeys(database, vault);
  const mail = new MailOutbox(pool, vault, config);
  const issueToken = issueTokens(keys, config.issuer);
  const me = new MeService(new MeRepository(database));
  /** What runs in the background; stopped in the opposite order. */
  const running: { stop(): Promise<void> }[] = [];

  /** Without a broker in the configuration the events wait in the outbox. */
  const relayEvents = (): void => {
    if (config.kafkaBrokers.length === 0) return;
    const publisher = createPublisher({
      brokers: config.kafkaBrokers,
      clientId: 'identity',
      logger,
      // A stop waits no longer than this for a broker that does not answer.
      timeoutMs: 2000,
    });
    const relay = startRelay({
      connectionString: config.database.url,
      publish: (records) => publisher.publish([...records]),
      logger,
    });
    running.push({ stop: () => publisher.close() }, relay);
  };

  return {
    config,
    logger,
    metrics: createMetrics(),
    pool,
    database,
    keys,
    mail,
    authentication: new Authentication(pool, keys, config.issuer),
    authorizationServer: new AuthorizationServer(database, keys, {
      ...config,
      cookieName: sessionCookie(config).name,
    }),
    signIn: new SignInService({
      repository: new SignInRepository(database, issueToken),
      passwords: new Passwords(config.passwords),
      failedAttempts: failedAttempts(config.limits.loginFailures),
      lifetimes: config.lifetimes,
      logger,
    }),
    me,
    profiles: new ProfileService(new ProfileRepository(database)),
    policies: new PoliciesService(me),
    members: new MembersService(new MembersRepository(database)),
    observers: overrides.observers ?? [],

    async start() {
      await migrate(config.database.url, migrations, logger);
      await ensureBuiltInRoles(database);
      await keys.start();
      relayEvents();
      const sender = startMail(config.mail, mail, logger);
      if (sender) running.push(sender);
      running.push(startHousekeeping({ pool, logger }));
    },

    async stop() {
      for (const part of running.splice(0).reverse()) await part.stop();
      await database.$disconnect();
      await pool.end();
    },
  };
};
