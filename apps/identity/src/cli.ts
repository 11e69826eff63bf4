#!/usr/bin/env node
import { json } from 'node:stream/consumers';
import { migrate } from '@tessera/database-kit';
import { validate } from '@tessera/fields';
import { createLogger } from '@tessera/http-kit';
import { createVault } from '@tessera/vault';
import { Command, CommanderError, Option } from 'commander';
import {
  createAdministrator,
  createClient,
  createSystemApplication,
} from './administration/create.ts';
import { Seed } from './administration/seed.shape.ts';
import { applySeed } from './administration/seed.ts';
import { type Config, readConfig } from './config.ts';
import { createDatabase, type Database, migrations } from './database.ts';
import { ensureBuiltInRoles } from './features/roles/built-in-roles.ts';
import { Passwords } from './passwords.ts';
import { SigningKeys } from './tokens/signing-keys.ts';

const USAGE_ERROR = 2;

/** Runs a command on an up-to-date database and prints what it gives. */
const withDatabase = async (
  work: (database: Database, passwords: Passwords, config: Config) => Promise<object>,
): Promise<void> => {
  const config = readConfig(process.env);
  await migrate(config.database.url, migrations);
  const { pool, database } = createDatabase(
    config.database,
    createLogger('identity-admin', 'warn'),
  );
  try {
    await ensureBuiltInRoles(database);
    const result = await work(database, new Passwords(config.passwords), config);
    print(result);
  } finally {
    await database.$disconnect();
    await pool.end();
  }
};

const print = (result: object): void => {
  if (program.opts<{ json?: boolean }>().json) return void console.log(JSON.stringify(result));
  for (const [name, value] of Object.entries(result)) console.log(`${name}: ${value}`);
};

const seedDocument = async () => {
  const given = validate(Seed, await json(process.stdin), 'document');
  if (given.ok) return given.value;
  const problems = Object.entries(given.errors).flatMap(([field, messages]) =>
    messages.map((message) => `${field}: ${message}`),
  );
  throw new Error(`The document does not fit:\n${problems.join('\n')}`);
};

const program = new Command('identity-admin')
  .description(
    "Administers identity's database. The configuration is the service's own environment.",
  )
  .option('--json', 'print the result as JSON')
  .exitOverride();

program
  .command('migrate')
  .description('bring the database up to date')
  .action(() => withDatabase(async () => ({ migrated: true })));

program
  .command('seed')
  .description('make what a JSON document on standard input names and is not there yet')
  .action(async () => {
    const document = await seedDocument();
    await withDatabase(async (database, passwords) => ({
      ...(await applySeed(database, passwords, document)),
    }));
  });

program
  .command('create-administrator <email>')
  .description('make a system administrator; a password is made up and shown once')
  .requiredOption('--first-name <name>')
  .requiredOption('--last-name <name>')
  .action((email: string, name: { firstName: string; lastName: string }) =>
    withDatabase((database, passwords) =>
      createAdministrator(database, passwords, { email, ...name }),
    ),
  );

program
  .command('create-system-application <client_id> <scope...>')
  .description('make a client of POST /api/oauth/token; its secret is shown once')
  .requiredOption('--name <name>')
  .action((clientId: string, scopes: string[], { name }: { name: string }) =>
    withDatabase((database) => createSystemApplication(database, { clientId, name, scopes })),
  );

program
  .command('create-client <client_id>')
  .description('make a client of GET /oauth/authorize; its secret is shown once')
  .requiredOption('--name <name>', 'what users read on the consent page')
  .requiredOption('--redirect-uri <uri...>', 'where codes are sent, exactly; give it once for each')
  .option('--confidential', 'it can keep a secret (unless told otherwise)')
  .addOption(
    new Option('--public', 'without a secret: for browsers and phones').conflicts('confidential'),
  )
  .option('--trusted', 'users are not asked for consent', false)
  .option('--tenant <slug>', 'the tenant whose client it is')
  .action(
    (
      clientId: string,
      given: {
        name: string;
        redirectUri: string[];
        public?: true;
        trusted: boolean;
        tenant?: string;
      },
    ) =>
      withDatabase((database) =>
        createClient(database, {
          clientId,
          name: given.name,
          redirectUris: given.redirectUri,
          isPublic: given.public ?? false,
          isTrusted: given.trusted,
          tenantSlug: given.tenant,
        }),
      ),
  );

program
  .command('rotate-keys')
  .description('publish a new key that signs tokens ten minutes from now; old tokens stay valid')
  .action(() =>
    withDatabase(async (database, _passwords, { keyEncryptionKeys }) => {
      const keys = new SigningKeys(database, createVault(keyEncryptionKeys));
      // A database that no service has used yet gets its first key, which signs at once.
      await keys.start();
      const { kid, signsFrom } = await keys.rotate();
      return { kid, signs_from: signsFrom.toISOString() };
    }),
  );

try {
  await program.parseAsync();
} catch (error) {
  const isUsage = error instanceof CommanderError;
  if (!isUsage) console.error(error instanceof Error ? error.message : error);
  process.exitCode = isUsage ? (error.exitCode === 0 ? 0 : USAGE_ERROR) : 1;
}
