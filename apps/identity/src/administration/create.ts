import { randomBytes } from 'node:crypto';
import { unknownPatterns } from '@tessera/contracts';
import { isUniqueViolation } from '@tessera/database-kit';
import { email as emailField, type Field, text, validate } from '@tessera/fields';
import { registerClient } from '../clients/registration.ts';
import type { Database } from '../database.ts';
import type { PasswordOwner } from '../passwords/password-rules.ts';
import type { Passwords } from '../passwords/passwords.ts';
import { digest, newSecret } from '../security/secrets.ts';
import { clientIdField, scopes as scopesField } from './seed.shape.ts';

/** What was given, as the field takes it; throws what is wrong with it. */
export const valid = <T>(field: Field<T>, given: unknown, name: string): T => {
  const result = validate(field, given, name);
  if (result.ok) return result.value;
  throw new Error(Object.values(result.errors).flat().join('\n'));
};

const unlessTaken = async <T>(taken: string, create: Promise<T>): Promise<T> => {
  try {
    return await create;
  } catch (error) {
    throw isUniqueViolation(error) ? new Error(taken) : error;
  }
};

/** Random, with every kind of character that the rules ask for. */
const newPassword = (passwords: Passwords, owner: PasswordOwner): string => {
  // A configuration may ask for more characters than the first one has.
  for (let bytes = 15; ; bytes = 45) {
    const password = `${randomBytes(bytes).toString('base64url')}-aA1`;
    if (passwords.problems(password, owner).length === 0) return password;
  }
};

interface Administrator {
  readonly email: string;
  readonly firstName: string;
  readonly lastName: string;
  /** One is made up unless it is given. */
  readonly password?: string | undefined;
}

const demandGood = (passwords: Passwords, password: string, owner: PasswordOwner): void => {
  const problems = passwords.problems(password, owner);
  if (problems.length > 0) throw new Error(`The password is refused: ${problems.join(', ')}.`);
};

/** Makes a system administrator and gives the password that was made up, which nothing shows again. */
export const createAdministrator = async (
  database: Database,
  passwords: Passwords,
  given: Administrator,
): Promise<{ id: string; email: string; password?: string }> => {
  const email = valid(emailField(), given.email, 'email');
  const firstName = valid(text(200), given.firstName, 'first-name');
  const lastName = valid(text(200), given.lastName, 'last-name');
  const owner = { email, firstName, lastName };
  if (given.password !== undefined) demandGood(passwords, given.password, owner);
  const password = given.password ?? newPassword(passwords, owner);
  const { id } = await unlessTaken(
    `There is a user with the address ${email} already.`,
    database.user.create({
      data: {
        email,
        firstName,
        lastName,
        isSystemAdmin: true,
        emailVerifiedAt: new Date(),
        passwordHash: await passwords.hash(password, email),
      },
    }),
  );
  return { id, email, ...(given.password === undefined && { password }) };
};

/** All system administrators. */
export const listAdministrators = async (database: Database): Promise<object[]> => {
  const all = await database.user.findMany({
    where: { isSystemAdmin: true },
    orderBy: { email: 'asc' },
  });
  return all.map(({ id, email, firstName, lastName, isActive, lastLoginAt }) => ({
    id,
    email,
    name: `${firstName} ${lastName}`,
    is_active: isActive,
    last_login_at: lastLoginAt?.toISOString() ?? null,
  }));
};

export interface NewSystemApplication {
  readonly clientId: string;
  readonly name: string;
  readonly scopes: readonly string[];
  /** May introspect the tokens of users (decision I22). */
  readonly isResourceServer?: boolean;
}

/** Throws an error that names the first pattern which no permission fits. */
export const demandKnownScopes = (scopes: readonly string[]): void => {
  const [unknown] = unknownPatterns(scopes);
  if (unknown) throw new Error(`The scope ${unknown.pattern} is unknown: ${unknown.reason}`);
};

/** Makes a system application and gives its secret, which nothing shows again. */
export const createSystemApplication = async (
  database: Database,
  { scopes, isResourceServer = false, ...given }: NewSystemApplication,
): Promise<{
  client_id: string;
  client_secret: string;
  scope: string;
  is_resource_server: boolean;
}> => {
  const clientId = valid(clientIdField, given.clientId, 'client_id');
  const name = valid(text(200), given.name, 'name');
  valid(scopesField, scopes, 'scope');
  demandKnownScopes(scopes);
  const client_secret = newSecret();
  const secretHash = digest(client_secret);
  await unlessTaken(
    `There is a client called ${clientId} already.`,
    database.systemApplication.create({
      data: { clientId, name, secretHash, scopes: [...scopes], isResourceServer },
    }),
  );
  return {
    client_id: clientId,
    client_secret,
    scope: scopes.join(' '),
    is_resource_server: isResourceServer,
  };
};

interface UserFacingClient {
  readonly clientId: string;
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly isPublic: boolean;
  readonly isTrusted: boolean;
  /** Part of the platform itself: it gets the scope `api` (decision I19). */
  readonly isFirstParty: boolean;
  /** The patterns within which a third-party client may ask for permissions. */
  readonly allowedScopes: readonly string[];
  /** Of the tenant whose client it is. */
  readonly tenantSlug?: string | undefined;
}

const tenantIdOf = async (database: Database, slug: string): Promise<string> => {
  const tenant = await database.tenant.findUnique({ where: { slug } });
  if (!tenant) throw new Error(`There is no tenant "${slug}".`);
  return tenant.id;
};

/** Makes a user-facing client and gives its secret, which nothing shows again; a public one has none. */
export const createClient = async (
  database: Database,
  { tenantSlug, ...given }: UserFacingClient,
): Promise<object> => {
  const clientId = valid(clientIdField, given.clientId, 'client_id');
  const name = valid(text(200), given.name, 'name');
  if (given.isFirstParty && tenantSlug !== undefined) {
    throw new Error('A client of a tenant cannot be first-party.');
  }
  demandKnownScopes(given.allowedScopes);
  const tenantId = tenantSlug === undefined ? null : await tenantIdOf(database, tenantSlug);
  const client_secret = await unlessTaken(
    `There is a client called ${clientId} already.`,
    registerClient(database, { ...given, clientId, name, tenantId }),
  );
  return {
    client_id: clientId,
    ...(client_secret !== null && { client_secret }),
    redirect_uris: given.redirectUris,
    is_trusted: given.isTrusted,
    is_first_party: given.isFirstParty,
    allowed_scopes: given.allowedScopes,
  };
};
