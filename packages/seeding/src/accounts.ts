import { type BuiltInRoleName, builtInRoles } from '@tessera/contracts';
import type pg from 'pg';
import { copyRows, type Row } from './copy.ts';
import { createRandom, type Language, languages, type Random } from './random.ts';
import { mailbox } from './records.ts';
import { shareOf } from './seed-records.ts';
import { inTransaction } from './transaction.ts';

/** The oldest tenant is this old: its records are younger. */
const AGE_MS = 4 * 365 * 86_400_000;
/** Of the users of a tenant these many are guests of the next one too. */
const GUESTS = 0.1;
const MOST_OF_SLUG = 40;
/** What everybody but the owner is, as often as it is named. */
const roles: readonly BuiltInRoleName[] = ['admin', 'viewer', 'viewer', ...Array(7).fill('member')];

export interface AccountsOptions {
  /** How many tenants of this seed there are to be. */
  readonly tenants: number;
  /** How many users they have together, spread evenly. The first one of each is its owner. */
  readonly users: number;
  readonly seed: number;
  readonly now: Date;
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
  /** The ids of its users. */
  readonly users: readonly string[];
}

interface User {
  readonly id: string;
  readonly email: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly role: BuiltInRoleName;
  readonly joined: Date;
}

interface Plan extends Omit<SeededTenant, 'isKnown' | 'ownerEmail' | 'users'> {
  readonly slug: string;
  readonly created: Date;
  readonly users: readonly User[];
  /** Users of this tenant who are let into the next one. */
  readonly guests: readonly User[];
}

/**
 * Makes the tenants of a seed that identity's database lacks, with their users, in one transaction. No
 * event tells of them: nobody can have asked about what was not there.
 */
export const seedAccounts = async (
  pool: pg.Pool,
  options: AccountsOptions,
): Promise<SeededTenant[]> => {
  const plans = Array.from({ length: options.tenants }, (_, at) => planOf(at, options));
  const known = await knownTenants(pool, plans);
  const missing = plans.filter(({ slug }) => !known.has(slug));
  if (missing.length > 0) await insert(pool, missing, options);
  return Promise.all(
    plans.map(async ({ id, slug, name, language, users }) => {
      const there = known.get(slug);
      return {
        ...{ id: there ?? id, name, language, isKnown: there !== undefined },
        ownerEmail: users[0]?.email,
        users: there ? await usersOf(pool, there) : users.map((user) => user.id),
      };
    }),
  );
};

const planOf = (at: number, { tenants, users, seed, now }: AccountsOptions): Plan => {
  const random = createRandom(seed, at);
  const language = languages[at % languages.length] ?? 'en';
  const name = random.somebody(language).faker.company.name();
  const created = new Date(now.getTime() - AGE_MS * (1 - at / tenants / 10));
  const slug = `${labelOf(name)}-${seed}-${at + 1}`;
  const people = Array.from({ length: shareOf(users, tenants, at) }, (_, number) =>
    userOf(random, number, { language, slug, created, now }),
  );
  return {
    ...{ id: random.uuid(created), name, language, slug, created },
    users: people,
    guests: tenants > 1 ? people.filter(() => random.chance(GUESTS)) : [],
  };
};

/** A name as a part of a slug: lower-case letters, digits and single dashes. */
const labelOf = (name: string): string =>
  mailbox(name.replace(/[^\p{L}\p{M}\p{N}]+/gu, '-'))
    .slice(0, MOST_OF_SLUG)
    .replace(/^-+|-+$/g, '');

const userOf = (
  random: Random,
  number: number,
  { language, slug, created, now }: Pick<Plan, 'language' | 'slug' | 'created'> & { now: Date },
): User => {
  const { person } = random.somebody(language).faker;
  const sex = random.pick(['female', 'male'] as const);
  const [firstName, lastName] = [person.firstName(sex), person.lastName(sex)];
  const membership = (now.getTime() - created.getTime()) * (number === 0 ? 1 : random.next());
  const joined = new Date(now.getTime() - membership);
  return {
    id: random.uuid(joined),
    email: `${mailbox(`${firstName}.${lastName}`)}${number + 1}@${slug}.example`,
    role: number === 0 ? 'owner' : random.pick(roles),
    ...{ firstName, lastName, joined },
  };
};

const insert = async (
  pool: pg.Pool,
  plans: readonly Plan[],
  { passwordHash, signal, now }: AccountsOptions,
): Promise<void> => {
  const roleIds = await builtInRoleIds(pool);
  await inTransaction(pool, signal, async (client) => {
    const copy = (table: string, rows: Row[]) =>
      copyRows(client, `identity.${table}`, rows, signal);
    await copy(
      'tenants',
      plans.map(({ id, slug, name, created }) => ({
        ...{ id, slug, name, plan: 'business', status: 'active' },
        ...{ created_at: created, updated_at: created },
      })),
    );
    await copy(
      'users',
      plans.flatMap(({ id, users }) =>
        users.map((user) => ({
          ...{ id: user.id, email: user.email, tenant_id: id, password_hash: passwordHash },
          ...{ first_name: user.firstName, last_name: user.lastName },
          ...{ email_verified_at: user.joined, created_at: user.joined, updated_at: user.joined },
        })),
      ),
    );
    await copy('memberships', [...membershipsOf(plans, roleIds, now)]);
  });
};

function* membershipsOf(
  plans: readonly Plan[],
  roleIds: ReadonlyMap<string, string>,
  now: Date,
): Generator<Row> {
  for (const [at, { id, users, guests }] of plans.entries()) {
    const row = (tenantId: string, user: User, role: BuiltInRoleName, since: Date): Row => ({
      ...{ tenant_id: tenantId, user_id: user.id, role_id: roleIds.get(role) ?? null },
      created_at: since,
    });
    for (const user of users) yield row(id, user, user.role, user.joined);
    const host = plans[(at + 1) % plans.length];
    if (!host || host.id === id) continue;
    for (const user of guests) yield row(host.id, user, 'viewer', now);
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

const usersOf = async (pool: pg.Pool, tenantId: string): Promise<string[]> => {
  const { rows } = await pool.query<{ id: string }>(
    'SELECT id FROM identity.users WHERE tenant_id = $1 ORDER BY id',
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
