import {
  allLocales,
  Faker,
  type Faker as FakerType,
  generateMersenne53Randomizer,
  type LocaleDefinition,
} from '@faker-js/faker';
import { v7 as uuidv7 } from 'uuid';

const { base, cs_CZ, de, en, fr, hu, pl, ro, sk, es } = allLocales;

/** Where people come from. Every list falls back to English, which has them all. */
const locales = { hu, de, en, cs: cs_CZ, fr, pl, ro, sk, es } satisfies Record<
  string,
  LocaleDefinition
>;
export type Language = keyof typeof locales;
export const languages = Object.keys(locales) as Language[];

/** Of ten people in a tenant these many speak its language. */
const AT_HOME = 0.7;

/** Random values that are always the same for the same seed. */
export interface Random {
  /** At least 0 and less than 1. */
  next(): number;
  chance(probability: number): boolean;
  /** One of a list that is not empty. */
  pick<T>(list: readonly T[]): T;
  /** UUIDv7 (RFC 9562): those made later, with the same or a later time, sort behind. */
  uuid(time: Date): string;
  /** What makes names, streets and the like of somebody in a tenant of this language. */
  somebody(home: Language): FakerType;
}

/** The same numbers give the same values, in the same order. */
export const createRandom = (...seed: readonly number[]): Random => {
  const randomizer = generateMersenne53Randomizer();
  randomizer.seed([...seed]);
  const fakers = Object.fromEntries(
    languages.map((language) => [
      language,
      new Faker({ locale: [locales[language], en, base], randomizer }),
    ]),
  ) as Record<Language, FakerType>;
  const next = (): number => randomizer.next();
  const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)] as T;
  const bytes = new Uint8Array(16);
  let made = 0;
  return {
    next,
    pick,
    chance: (probability) => next() < probability,
    uuid(time) {
      for (let at = 10; at < bytes.length; at += 1) bytes[at] = next() * 256;
      made += 1;
      return uuidv7({ msecs: time.getTime(), seq: made, random: bytes });
    },
    somebody: (home) => fakers[next() < AT_HOME ? home : pick(languages)],
  };
};
