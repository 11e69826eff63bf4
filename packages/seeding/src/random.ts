import {
  allLocales,
  Faker,
  type Faker as FakerType,
  generateMersenne53Randomizer,
  type LocaleDefinition,
} from '@faker-js/faker';
import { v7 as uuidv7 } from 'uuid';

const { base, cs_CZ, de, en, fr, hu, pl, ro, sk, es } = allLocales;

/** Locales by language. English supplies what a locale lacks. */
const origins = {
  hu: { names: hu, country: 'Magyarország' },
  de: { names: de, country: 'Deutschland' },
  en: { names: en, country: 'United Kingdom' },
  cs: { names: cs_CZ, country: 'Česko' },
  fr: { names: fr, country: 'France' },
  pl: { names: pl, country: 'Polska' },
  ro: { names: ro, country: 'România' },
  sk: { names: sk, country: 'Slovensko' },
  es: { names: es, country: 'España' },
} satisfies Record<string, { names: LocaleDefinition; country: string }>;
export type Language = keyof typeof origins;
export const languages = Object.keys(origins) as Language[];

/** The share of people who have the language of their tenant. */
const SAME_LANGUAGE = 0.7;

/** Generates names, addresses and the like of a country. */
export interface Origin {
  readonly faker: FakerType;
  readonly country: string;
}

/** A random generator that yields the same values for the same seed. */
export interface Random {
  /** At least 0 and less than 1. */
  next(): number;
  chance(probability: number): boolean;
  /** An element of a non-empty list. */
  pick<T>(list: readonly T[]): T;
  /** A UUIDv7 (RFC 9562) that sorts after earlier ones with the same or an earlier time. */
  uuid(time: Date): string;
  /** The origin of a person in a tenant of this language. */
  somebody(home: Language): Origin;
}

/** Creates a generator; the same numbers yield the same values in the same order. */
export const createRandom = (...seed: readonly number[]): Random => {
  const randomizer = generateMersenne53Randomizer();
  randomizer.seed([...seed]);
  const fakers = Object.fromEntries(
    languages.map((language) => {
      const { names, country } = origins[language];
      return [language, { faker: new Faker({ locale: [names, en, base], randomizer }), country }];
    }),
  ) as Record<Language, Origin>;
  const next = (): number => randomizer.next();
  const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)] as T;
  const bytes = new Uint8Array(16);
  let uuids = 0;
  return {
    next,
    pick,
    chance: (probability) => next() < probability,
    uuid(time) {
      for (let at = 10; at < bytes.length; at += 1) bytes[at] = next() * 256;
      uuids += 1;
      return uuidv7({ msecs: time.getTime(), seq: uuids, random: bytes });
    },
    somebody: (home) => fakers[next() < SAME_LANGUAGE ? home : pick(languages)],
  };
};
