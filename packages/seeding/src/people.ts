import type { BuiltInRoleName } from '@tessera/contracts';
import { createRandom, type Language, languages, type Random } from './random.ts';
import { mailbox } from './records.ts';
import { shareOf } from './seed-records.ts';
import { smallTenant } from './small-tenants.ts';

/** The age of the oldest tenant. Its records are younger. */
const AGE_MS = 4 * 365 * 86_400_000;
/** The share of a tenant's users who are also guests of the next tenant. */
const GUESTS = 0.1;
const MAX_LABEL_LENGTH = 40;
/** The roles of users besides the owner, each as often as it occurs. */
const roles: readonly BuiltInRoleName[] = ['admin', 'viewer', 'viewer', ...Array(7).fill('member')];
/** Seeds the users' random values: no kind of record has this index. */
const PEOPLE = -1;

export interface PeopleOptions {
  /** The number of tenants of this seed. */
  readonly tenants: number;
  /** The number of users of these tenants together, spread evenly. The first user of each is its owner. */
  readonly users: number;
  /** The number of further, small tenants. */
  readonly smallTenants: number;
  readonly seed: number;
  readonly now: Date;
}

/** A tenant to be created. Its users are generated on demand, the same ones each time. */
export interface Plan {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly language: Language;
  readonly created: Date;
  /** The number of its users. */
  readonly size: number;
  people(): Generator<User>;
}

export interface User {
  readonly id: string;
  readonly email: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly role: BuiltInRoleName;
  readonly joined: Date;
  /** Whether the user is also a member of the next tenant. */
  readonly isGuest: boolean;
}

/** The plan of a tenant: small tenants come after the others. */
export const planOf = (at: number, options: PeopleOptions): Plan => {
  const { tenants, users, smallTenants, seed, now } = options;
  const random = createRandom(seed, at);
  const language = languages[at % languages.length] ?? 'en';
  const name = random.somebody(language).faker.company.name();
  const created = new Date(now.getTime() - AGE_MS * (1 - at / (tenants + smallTenants) / 10));
  const slug = `${labelOf(name)}-${seed}-${at + 1}`;
  const size = at < tenants ? shareOf(users, tenants, at) : smallTenant.users;
  return {
    id: random.uuid(created),
    slug,
    name,
    language,
    created,
    size,
    *people() {
      const usersRandom = createRandom(seed, at, PEOPLE);
      for (let number = 0; number < size; number += 1)
        yield userOf(usersRandom, number, { language, slug, created, now });
    },
  };
};

/** Turns a name into a part of a slug: lower-case letters, digits and single dashes. */
const labelOf = (name: string): string =>
  mailbox(name.replace(/[^\p{L}\p{M}\p{N}]+/gu, '-'))
    .slice(0, MAX_LABEL_LENGTH)
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
    isGuest: random.chance(GUESTS),
    firstName,
    lastName,
    joined,
  };
};
