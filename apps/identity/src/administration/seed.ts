import type { PermissionRegistry } from '@tessera/contracts';
import { noteCommand } from '../activity/activity.ts';
import { changesBetween } from '../activity/changes.ts';
import { requireFreeClientId, requireRedirectUris } from '../clients/registration.ts';
import type { Database, Transaction } from '../database.ts';
import { reservationsOf, whyReserved } from '../features/tenants/slug-reservations.ts';
import { bumpPolicyVersion, enqueue } from '../outbox/outbox.ts';
import { signedIn } from '../passwords/hashing-for.ts';
import type { Passwords } from '../passwords/passwords.ts';
import { digest } from '../security/secrets.ts';
import { findPerson } from '../users/users.ts';
import type { SeedDocument } from './seed.shape.ts';
import type { Session } from './session.ts';
import { addTenantClients, type CompletedClient } from './tenant-clients.ts';

type SeededUser = SeedDocument['users'][number];

/** The number of created rows, by kind. */
export interface Seeded {
  readonly tenants: number;
  readonly users: number;
  readonly memberships: number;
  readonly system_applications: number;
  readonly clients: number;
}

const NOTHING = { tenants: 0, users: 0, memberships: 0, system_applications: 0, clients: 0 };

/** A client can only have scopes of its own tenant. */
const refuseUnknownScopes = (
  permissions: PermissionRegistry,
  { system_applications, clients }: SeedDocument,
): void => {
  const refuse = (client_id: string, scopes: readonly string[], slug?: string): void => {
    const [unknown] = permissions.unknownPatterns(scopes, slug);
    if (!unknown) return;
    throw new Error(`${client_id}: the scope ${unknown.pattern} is unknown: ${unknown.reason}.`);
  };
  for (const { client_id, scopes } of system_applications) refuse(client_id, scopes);
  for (const { client_id, scopes, tenant_slug } of clients) refuse(client_id, scopes, tenant_slug);
};

/** Existing tenants can keep reserved slugs. */
const refuseReservedSlugs = async (
  database: Database,
  { tenants }: SeedDocument,
  reserved: readonly string[],
): Promise<void> => {
  const slugs = tenants.map(slugOf).filter((slug) => reserved.includes(slug));
  const there = await database.tenant.findMany({ where: { slug: { in: slugs } } });
  const refused = slugs.find((slug) => !there.some((tenant) => tenant.slug === slug));
  if (refused !== undefined) throw new Error(`The slug "${refused}" is reserved.`);
};

const refuseWeakPasswords = (passwords: Passwords, { users }: SeedDocument): void => {
  for (const { email, password, first_name, last_name } of users) {
    const owner = { email, firstName: first_name, lastName: last_name };
    const problems = passwords.problems(password, owner);
    if (problems.length > 0) throw new Error(`${email}: ${problems.join(', ')}`);
  }
};

/** Hashes the passwords of new users, before the transaction begins. */
const hashesOfNew = async (
  database: Database,
  passwords: Passwords,
  users: readonly SeededUser[],
): Promise<Map<SeededUser, string>> => {
  const known = await database.user.findMany({
    where: { email: { in: users.map(({ email }) => email) }, isServiceAccount: false },
    select: { email: true },
  });
  const there = new Set(known.map(({ email }) => email));
  const hashes = new Map<SeededUser, string>();
  for (const user of users) {
    if (!there.has(user.email))
      hashes.set(user, await passwords.hash(user.password, signedIn(user.email)));
  }
  return hashes;
};

/** A deleted tenant may come back with its slug, but no other one gets it yet. */
const refuseSlugsOfDeleted = async (
  tx: Transaction,
  { tenants }: SeedDocument,
  seconds: number,
): Promise<void> => {
  const reservations = await reservationsOf(tx, tenants.map(slugOf), seconds);
  const refused = reservations.find(({ slug, tenantId }) =>
    tenants.some((tenant) => tenant.slug === slug && tenant.id !== tenantId),
  );
  if (refused) throw new Error(`The ${whyReserved(refused)}.`);
};

const addTenants = async (
  tx: Transaction,
  document: SeedDocument,
  slugReservation: number,
): Promise<Map<string, string>> => {
  await tx.tenant.createMany({ data: document.tenants, skipDuplicates: true });
  // Afterwards, as in `TenantCreation`.
  await refuseSlugsOfDeleted(tx, document, slugReservation);
  const stored = await tx.tenant.findMany({ select: { id: true, slug: true } });
  return new Map(stored.map(({ id, slug }) => [slug, id]));
};

const slugOf = ({ slug }: { readonly slug: string }): string => slug;
const isCreated = ({ result }: CompletedClient): boolean => result === 'created';

const found = (what: string, id: string | undefined): string => {
  if (id === undefined) throw new Error(`There is no ${what}.`);
  return id;
};

/** Adds missing memberships; existing ones are left unchanged. */
const addMemberships = async (
  tx: Transaction,
  users: readonly SeededUser[],
  tenants: ReadonlyMap<string, string>,
): Promise<number> => {
  const roles = await tx.role.findMany({ select: { id: true, tenantId: true, name: true } });
  let added = 0;
  const touched = new Map<string, string[]>();
  for (const { email, memberships } of users) {
    if (memberships.length === 0) continue;
    const userId = found(`user "${email}"`, (await findPerson(tx, email))?.id);
    for (const { tenant_slug, role } of memberships) {
      const tenantId = found(`tenant "${tenant_slug}"`, tenants.get(tenant_slug));
      const isMeant = (r: (typeof roles)[number]): boolean =>
        r.name === role && (r.tenantId === tenantId || r.tenantId === null);
      const roleId = found(
        `role "${role}" in the tenant "${tenant_slug}"`,
        roles.find(isMeant)?.id,
      );
      const { count } = await tx.membership.createMany({
        data: [{ tenantId, userId, roleId }],
        skipDuplicates: true,
      });
      added += count;
      if (count > 0) touched.set(tenantId, [...(touched.get(tenantId) ?? []), userId]);
    }
  }
  await tellOfRights(tx, touched);
  return added;
};

const tellOfRights = async (
  tx: Transaction,
  touched: ReadonlyMap<string, readonly string[]>,
): Promise<void> => {
  const news = [];
  for (const [tenant_id, users] of [...touched].sort()) {
    const version = await bumpPolicyVersion(tx, tenant_id);
    // Without ids if there are too many.
    const user_ids = users.length > 1000 ? null : [...users];
    news.push({ type: 'identity.policy.updated', data: { tenant_id, version, user_ids } } as const);
  }
  if (news.length > 0) await enqueue(tx, ...news);
};

/**
 * Creates what a document lists and does not exist yet, in one transaction. Existing rows are left unchanged, so
 * that a document can be applied again. A tenant without a client in the document gets one with the configured
 * redirect URIs. Throws if a tenant, role or permission does not exist, or a password or redirect URI is invalid.
 */
export const applySeed = async (
  session: Pick<
    Session,
    | 'database'
    | 'passwords'
    | 'permissions'
    | 'tenantRedirectUris'
    | 'reservedSlugs'
    | 'slugReservation'
  >,
  document: SeedDocument,
): Promise<Seeded> => {
  const { database, passwords, tenantRedirectUris, reservedSlugs, slugReservation } = session;
  refuseUnknownScopes(session.permissions, document);
  await refuseReservedSlugs(database, document, reservedSlugs);
  refuseWeakPasswords(passwords, document);
  for (const { client_id, redirect_uris, is_first_party, tenant_slug } of document.clients) {
    requireFreeClientId(client_id);
    requireRedirectUris(client_id, redirect_uris);
    if (is_first_party && tenant_slug !== undefined) {
      throw new Error(`${client_id}: a client of a tenant cannot be first-party.`);
    }
  }
  const hashes = await hashesOfNew(database, passwords, document.users);
  return database.$transaction(
    async (tx) => {
      const before = await tx.tenant.count();
      const tenants = await addTenants(tx, document, slugReservation);
      const users = await tx.user.createMany({
        data: [...hashes].map(([user, passwordHash]) => ({
          id: user.id,
          email: user.email,
          firstName: user.first_name,
          lastName: user.last_name,
          isSystemAdmin: user.is_system_admin,
          tenantId: tenants.get(user.memberships[0]?.tenant_slug ?? '') ?? null,
          emailVerifiedAt: new Date(),
          passwordHash,
        })),
        skipDuplicates: true,
      });
      const applications = await tx.systemApplication.createMany({
        data: document.system_applications.map(({ client_id, name, client_secret, scopes }) => ({
          clientId: client_id,
          name,
          scopes,
          secretHash: digest(client_secret),
        })),
        skipDuplicates: true,
      });
      const clients = await tx.oAuthClient.createMany({
        data: document.clients.map(
          ({ client_id, name, client_secret, tenant_slug, ...client }) => ({
            clientId: client_id,
            name,
            isTrusted: client.is_trusted,
            isFirstParty: client.is_first_party,
            allowedScopes: client.scopes,
            redirectUris: client.redirect_uris,
            secretHash: client_secret === null ? null : digest(client_secret),
            tenantId: tenant_slug
              ? found(`tenant "${tenant_slug}"`, tenants.get(tenant_slug))
              : null,
          }),
        ),
        skipDuplicates: true,
      });
      const tenantClients = await addTenantClients(
        tx,
        await tx.tenant.findMany({ where: { slug: { in: document.tenants.map(slugOf) } } }),
        tenantRedirectUris,
      );
      const seeded = {
        tenants: tenants.size - before,
        users: users.count,
        memberships: await addMemberships(tx, document.users, tenants),
        system_applications: applications.count,
        clients: clients.count + tenantClients.filter(isCreated).length,
      };
      const changes = changesBetween(NOTHING, seeded);
      if (changes) await noteCommand(tx, 'seed', 'accounts_seeded', { changes });
      return seeded;
    },
    { timeout: 60_000 },
  );
};
