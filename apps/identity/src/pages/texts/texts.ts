import { de } from './de.ts';
import { en } from './en.ts';
import { hu } from './hu.ts';

/** The texts of one language: what English says, every language says. */
export type Texts = typeof en;

const tables = { en, hu, de } satisfies Record<string, Texts>;

export type Language = keyof typeof tables;

export const textsOf = (language: Language): Texts => tables[language];

/** Every language with its own name. */
export const languages = Object.entries(tables).map(
  ([language, { name }]) => ({ language, name }) as { language: Language; name: string },
);

/** The first language of a list (`ui_locales` of OpenID Connect Core: `de-AT de en`) that there are texts in. */
export const languageAmong = (locales: string): Language | undefined => {
  const wanted = locales.split(' ').map((locale) => locale.split('-')[0]?.toLowerCase());
  return wanted.find((name): name is Language => name !== undefined && Object.hasOwn(tables, name));
};
