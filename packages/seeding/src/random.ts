import {
  allLocales,
  Faker,
  type Faker as FakerType,
  generateMersenne53Randomizer,
  type LocaleDefinition,
} from '@faker-js/faker';
import { v7 as uuidv7 } from 'uuid';

const { base, cs_CZ, de, en, fr, hu, pl, ro, sk, es } = allLocales;

/** Where people come from. What a list lacks is taken from English, which has it all. */
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

/** Of ten people in a tenant these many speak its language. */
const AT_HOME = 0.7;

/** What makes the names, streets and the like of a country. */
export interface Origin {
  readonly faker: FakerType;
  readonly country: string;
}

/** Random values that are always the same for the same seed. */
export interface Random {
  /** At least 0 and less than 1. */
  next(): number;
  chance(probability: number): boolean;
  /** One of a list that is not empty. */
  pick<T>(list: readonly T[]): T;
  /** UUIDv7 (RFC 9562): those made later, with the same or a later time, sort behind. */
  uuid(time: Date): string;
  /** Where somebody in a tenant of this language comes from. */
  somebody(home: Language): Origin;
}

/** The same numbers give the same values, in the same order. */
export const createRandom = (...seed: readonly number[]): Random => {
  const randomizer = generateMersenne53Randomizer();
  randomizer.seed([...seed]);
  const made = Object.fromEntries(
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
    somebody: (home) => made[next() < AT_HOME ? home : pick(languages)],
  };
};
