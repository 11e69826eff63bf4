import type { BuiltInRoleName } from '@tessera/contracts';
import { createRandom, type Language, languages, type Random } from './random.ts';
import { mailbox } from './records.ts';
import { shareOf } from './seed-records.ts';

/** The oldest tenant is this old: its records are younger. */
const AGE_MS = 4 * 365 * 86_400_000;
/** Of the users of a tenant these many are guests of the next one too. */
const GUESTS = 0.1;
const MOST_OF_SLUG = 40;
/** What everybody but the owner is, as often as it is named. */
const roles: readonly BuiltInRoleName[] = ['admin', 'viewer', 'viewer', ...Array(7).fill('member')];
/** Begins random values that no tenant and no record has: neither has a place with this number. */
const PEOPLE = -1;

export interface PeopleOptions {
  /** How many tenants of this seed there are to be. */
  readonly tenants: number;
  /** How many users they have together, spread evenly. The first one of each is its owner. */
  readonly users: number;
  readonly seed: number;
  readonly now: Date;
}

/** A tenant that is to be there. Its users are made when they are needed, each time the same. */
export interface Plan {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly language: Language;
  readonly created: Date;
  /** How many users it has. */
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
  /** Whether the next tenant lets them in, too. */
  readonly isGuest: boolean;
}

export const planOf = (at: number, { tenants, users, seed, now }: PeopleOptions): Plan => {
  const random = createRandom(seed, at);
  const language = languages[at % languages.length] ?? 'en';
  const name = random.somebody(language).faker.company.name();
  const created = new Date(now.getTime() - AGE_MS * (1 - at / tenants / 10));
  const slug = `${labelOf(name)}-${seed}-${at + 1}`;
  const size = shareOf(users, tenants, at);
  return {
    id: random.uuid(created),
    slug,
    name,
    language,
    created,
    size,
    *people() {
      const those = createRandom(seed, at, PEOPLE);
      for (let number = 0; number < size; number += 1)
        yield userOf(those, number, { language, slug, created, now });
    },
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
    isGuest: random.chance(GUESTS),
    firstName,
    lastName,
    joined,
  };
};
