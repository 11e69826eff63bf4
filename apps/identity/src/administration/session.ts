import { type InSession, migrationLog } from '@tessera/command-line';
import type { PermissionRegistry } from '@tessera/contracts';
import { migrate } from '@tessera/database-kit';
import { createLogger } from '@tessera/http-kit';
import { createVault, type Vault } from '@tessera/vault';
import type { Pool } from 'pg';
import { readConfig } from '../config.ts';
import { createDatabase, type Database, migrations } from '../database.ts';
import { ensureBuiltInRoles } from '../features/roles/built-in-roles.ts';
import { MailOutbox } from '../mail/outbox.ts';
import { Passwords } from '../passwords/passwords.ts';
import { highestStoredCost } from '../passwords/stored-cost.ts';

/** The dependencies of a command. */
export interface Session {
  readonly database: Database;
  readonly pool: Pool;
  readonly passwords: Passwords;
  readonly permissions: PermissionRegistry;
  readonly vault: Vault;
  /** Mails in it are sent by the service. */
  readonly mail: MailOutbox;
  /** Redirect URIs of each tenant's client, with `{slug}`. */
  readonly tenantRedirectUris: readonly string[];
  /** Slugs that no tenant can have. */
  readonly reservedSlugs: readonly string[];
  /** Seconds for which the slug of a deleted tenant is reserved. */
  readonly slugReservation: number;
}

/** Runs work on an up-to-date database, with the configuration of the service in the environment. */
export const sessionsIn =
  (environment: NodeJS.ProcessEnv): InSession<Session> =>
  async (work, retry) => {
    const config = readConfig(environment);
    await migrate(config.database.directUrl, migrations, migrationLog, retry);
    const logger = createLogger('identity-admin', 'warn');
    const { pool, database, close } = createDatabase(config.database, logger);
    try {
      await ensureBuiltInRoles(database);
      const passwords = new Passwords(config.passwords, highestStoredCost(database));
      const vault = createVault(config.keyEncryptionKeys);
      return await work({
        database,
        pool,
        passwords,
        permissions: config.permissions,
        vault,
        mail: new MailOutbox(pool, vault, config),
        tenantRedirectUris: config.tenantRedirectUris,
        reservedSlugs: config.reservedSlugs,
        slugReservation: config.slugReservation,
      });
    } finally {
      await close();
    }
  };
