import { hash, randomBytes } from 'node:crypto';
import { type BuiltInRoleName, builtInRoles, tenantClient } from '@tessera/contracts';
import type pg from 'pg';
import { copyRows, type Row } from './copy.ts';
import { type PeopleOptions, type Plan, planOf, type User } from './people.ts';
import type { Progress } from './progress.ts';
import type { Language } from './random.ts';
import { mostReferences } from './seed-records.ts';
import { inTransaction } from './transaction.ts';

export interface AccountsOptions extends PeopleOptions {
  /** bcrypt, of the password that all of them have. */
  readonly passwordHash: string;
  readonly signal?: AbortSignal | undefined;
}

/** A tenant that is there now. */
export interface SeededTenant {
  readonly id: string;
  readonly name: string;
  readonly language: Language;
  /** Whether it was there before, and so was left as it is. */
  readonly isKnown: boolean;
  readonly ownerEmail: string | undefined;
  /** How many users were made with it. */
  readonly added: number;
  /** The ids of its users, of as many as records refer to. */
  readonly users: readonly string[];
}

/**
 * Makes the tenants of a seed that identity's database lacks, with their users, in one transaction. No
 * event tells of them: nobody can have asked about what was not there.
 */
export const seedAccounts = async (
  pool: pg.Pool,
  options: AccountsOptions,
  progress: Progress,
): Promise<SeededTenant[]> => {
  const plans = Array.from({ length: options.tenants }, (_, at) => planOf(at, options));
  const known = await knownTenants(pool, plans);
  const missing = plans.filter(({ slug }) => !known.has(slug));
  if (missing.length > 0) await insert(pool, missing, options, progress);
  const most = mostReferences(plans.length);
  return Promise.all(
    plans.map(async ({ id, slug, name, language, size, people }) => {
      const there = known.get(slug);
      return {
        id: there ?? id,
        name,
        language,
        isKnown: there !== undefined,
        ownerEmail: people().next().value?.email,
        added: there ? 0 : size,
        users: there ? await usersOf(pool, there, most) : idsOf(people(), most),
      };
    }),
  );
};

const idsOf = (people: Iterable<User>, most: number): string[] => {
  const ids: string[] = [];
  for (const { id } of people) {
    if (ids.length === most) break;
    ids.push(id);
  }
  return ids;
};

/** How many users are told of at once. */
const TOLD = 1000;

const insert = async (
  pool: pg.Pool,
  plans: readonly Plan[],
  { passwordHash, signal, now }: AccountsOptions,
  progress: Progress,
): Promise<void> => {
  const roleIds = await builtInRoleIds(pool);
  const users = plans.reduce((sum, { size }) => sum + size, 0);
  const task = progress.begin('users', users);
  const work = async (client: pg.ClientBase): Promise<void> => {
    const copy = (table: string, rows: Iterable<Row>) =>
      copyRows(client, `identity.${table}`, rows, signal);
    await copy('tenants', plans.map(tenantRow));
    await copy('oauth_clients', plans.map(clientRow));
    await copy('users', told(userRows(plans, passwordHash), task.advance));
    task.step('making them members');
    await copy('memberships', membershipRows(plans, roleIds, now));
  };
  await inTransaction(pool, signal, work).finally(task.end);
};

const tenantRow = ({ id, slug, name, created }: Plan): Row => ({
  id,
  slug,
  name,
  plan: 'business',
  status: 'active',
  created_at: created,
  updated_at: created,
});

/** The client of a tenant. Nobody knows its secret: `identity-admin rotate-secret` gives it a new one. */
const clientRow = (plan: Plan): Row => {
  const { clientId, name, redirectUris, isTrusted, tenantId } = tenantClient(plan, []);
  return {
    client_id: clientId,
    name,
    secret_hash: `\\x${hash('sha256', randomBytes(32), 'hex')}`,
    redirect_uris: redirectUris,
    is_trusted: isTrusted,
    tenant_id: tenantId,
    created_at: plan.created,
  };
};

function* userRows(plans: readonly Plan[], passwordHash: string): Generator<Row> {
  for (const { id, people } of plans)
    for (const user of people())
      yield {
        id: user.id,
        email: user.email,
        tenant_id: id,
        password_hash: passwordHash,
        first_name: user.firstName,
        last_name: user.lastName,
        email_verified_at: user.joined,
        created_at: user.joined,
        updated_at: user.joined,
      };
}

function* told(rows: Iterable<Row>, advance: (count: number) => void): Generator<Row> {
  let count = 0;
  for (const row of rows) {
    yield row;
    count += 1;
    if (count % TOLD === 0) advance(TOLD);
  }
  advance(count % TOLD);
}

function* membershipRows(
  plans: readonly Plan[],
  roleIds: ReadonlyMap<string, string>,
  now: Date,
): Generator<Row> {
  const row = (tenantId: string, user: User, role: BuiltInRoleName, since: Date): Row => ({
    tenant_id: tenantId,
    user_id: user.id,
    role_id: roleIds.get(role) ?? null,
    created_at: since,
  });
  for (const [at, { id, people }] of plans.entries()) {
    const host = plans[(at + 1) % plans.length];
    for (const user of people()) {
      yield row(id, user, user.role, user.joined);
      if (user.isGuest && host && host.id !== id) yield row(host.id, user, 'viewer', now);
    }
  }
}

/** The ids of those that are there, by slug. */
const knownTenants = async (
  pool: pg.Pool,
  plans: readonly Plan[],
): Promise<Map<string, string>> => {
  const { rows } = await pool.query<{ id: string; slug: string }>(
    'SELECT id, slug FROM identity.tenants WHERE slug = ANY ($1)',
    [plans.map(({ slug }) => slug)],
  );
  return new Map(rows.map(({ id, slug }) => [slug, id]));
};

const usersOf = async (pool: pg.Pool, tenantId: string, most: number): Promise<string[]> => {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT id FROM identity.users WHERE tenant_id = $1 ORDER BY id LIMIT ${most}`,
    [tenantId],
  );
  return rows.map(({ id }) => id);
};

const builtInRoleIds = async (pool: pg.Pool): Promise<Map<string, string>> => {
  const { rows } = await pool.query<{ id: string; name: string }>(
    'SELECT id, name FROM identity.roles WHERE tenant_id IS NULL',
  );
  const ids = new Map(rows.map(({ id, name }) => [name, id]));
  const missing = Object.keys(builtInRoles).filter((name) => !ids.has(name));
  if (missing.length > 0) {
    throw new Error(
      `identity's database lacks the roles ${missing.join(', ')}: start identity once.`,
    );
  }
  return ids;
};
