import { hash, randomBytes } from 'node:crypto';
import { type BuiltInRoleName, builtInRoles, tenantClient } from '@tessera/contracts';
import type pg from 'pg';
import { copyRows, type Row } from './copy.ts';
import { type PeopleOptions, type Plan, planOf, type User } from './people.ts';
import type { Progress } from './progress.ts';
import type { Language } from './random.ts';
import { maxReferences } from './seed-records.ts';
import { inTransaction } from './transaction.ts';

export interface AccountsOptions extends PeopleOptions {
  /** The bcrypt hash of the password that all users get. */
  readonly passwordHash: string;
  readonly signal?: AbortSignal | undefined;
}

/** A tenant of the seed, as it is in the database afterwards. */
export interface SeededTenant {
  readonly id: string;
  readonly name: string;
  readonly language: Language;
  /** Whether it existed before; then it is unchanged. */
  readonly existed: boolean;
  readonly ownerEmail: string | undefined;
  /** The number of users created with it. */
  readonly added: number;
  /** The ids of its users, limited to those that records refer to. */
  readonly users: readonly string[];
}

/**
 * Creates the tenants of a seed that identity's database lacks, with their users, in one transaction. It
 * publishes no events: no other service can have cached anything about tenants that did not exist.
 */
export const seedAccounts = async (
  pool: pg.Pool,
  options: AccountsOptions,
  progress: Progress,
): Promise<SeededTenant[]> => {
  const length = options.tenants + options.smallTenants;
  const plans = Array.from({ length }, (_, at) => planOf(at, options));
  const existing = await existingTenants(pool, plans);
  const missing = plans.filter(({ slug }) => !existing.has(slug));
  if (missing.length > 0) await insert(pool, missing, options, progress);
  const limit = maxReferences(plans.length);
  return Promise.all(
    plans.map(async ({ id, slug, name, language, size, people }) => {
      const existingId = existing.get(slug);
      return {
        id: existingId ?? id,
        name,
        language,
        existed: existingId !== undefined,
        ownerEmail: people().next().value?.email,
        added: existingId ? 0 : size,
        users: existingId ? await usersOf(pool, existingId, limit) : idsOf(people(), limit),
      };
    }),
  );
};

const idsOf = (people: Iterable<User>, limit: number): string[] => {
  const ids: string[] = [];
  for (const { id } of people) {
    if (ids.length === limit) break;
    ids.push(id);
  }
  return ids;
};

/** The number of users between two progress reports. */
const PROGRESS_STEP = 1000;

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
    await copy('users', reportingProgress(userRows(plans, passwordHash), task.advance));
    task.step('adding memberships');
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

/** The OAuth client of a tenant. Its secret is random and discarded; `identity-admin rotate-secret` sets a new one. */
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

function* reportingProgress(rows: Iterable<Row>, advance: (count: number) => void): Generator<Row> {
  let count = 0;
  for (const row of rows) {
    yield row;
    count += 1;
    if (count % PROGRESS_STEP === 0) advance(PROGRESS_STEP);
  }
  advance(count % PROGRESS_STEP);
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

/** The ids of the tenants that exist already, by slug. */
const existingTenants = async (
  pool: pg.Pool,
  plans: readonly Plan[],
): Promise<Map<string, string>> => {
  const { rows } = await pool.query<{ id: string; slug: string }>(
    'SELECT id, slug FROM identity.tenants WHERE slug = ANY ($1)',
    [plans.map(({ slug }) => slug)],
  );
  return new Map(rows.map(({ id, slug }) => [slug, id]));
};

const usersOf = async (pool: pg.Pool, tenantId: string, limit: number): Promise<string[]> => {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT id FROM identity.users WHERE tenant_id = $1 ORDER BY id LIMIT ${limit}`,
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
