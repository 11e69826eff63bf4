import { migrate } from '@tessera/database-kit';
import { createLogger } from '@tessera/http-kit';
import { createVault, type Vault } from '@tessera/vault';
import type { Pool } from 'pg';
import { readConfig } from '../config.ts';
import { createDatabase, type Database, migrations } from '../database.ts';
import { ensureBuiltInRoles } from '../features/roles/built-in-roles.ts';
import { MailOutbox } from '../mail/outbox.ts';
import { Passwords } from '../passwords/passwords.ts';

/** What a command works with. */
export interface Session {
  readonly database: Database;
  readonly pool: Pool;
  readonly passwords: Passwords;
  readonly vault: Vault;
  /** What is written into it is sent by the service. */
  readonly mail: MailOutbox;
  /** Of the client of each tenant, with `{slug}`. */
  readonly tenantRedirectUris: readonly string[];
  /** Slugs that no tenant may have. */
  readonly reservedSlugs: readonly string[];
}

/** Does some work on an up-to-date database, by the service's own environment, and gives its result. */
export const withSession = async <T>(work: (session: Session) => Promise<T>): Promise<T> => {
  const config = readConfig(process.env);
  await migrate(config.database.url, migrations);
  const logger = createLogger('identity-admin', 'warn');
  const { pool, database } = createDatabase(config.database, logger);
  try {
    await ensureBuiltInRoles(database);
    const passwords = new Passwords(config.passwords);
    const vault = createVault(config.keyEncryptionKeys);
    return await work({
      database,
      pool,
      passwords,
      vault,
      mail: new MailOutbox(pool, vault, config),
      tenantRedirectUris: config.tenantRedirectUris,
      reservedSlugs: config.reservedSlugs,
    });
  } finally {
    await database.$disconnect();
    await pool.end();
  }
};
