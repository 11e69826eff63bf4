import anyAscii from 'any-ascii';

/** The length of the longest slug. */
export const MAX_SLUG = 100;

/** German writes these letters as two where it has only those of ASCII. */
const GERMAN: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue' };

const inGerman = (title: string): string =>
  title.normalize('NFC').replace(/[äöü]/gi, (letter) => GERMAN[letter.toLowerCase()] ?? letter);

/** Room for a number that makes the slug unique. */
const LONGEST = MAX_SLUG - 10;

/**
 * The slug with room for a number that makes it unique. It is cut at a hyphen, unless that would leave less than half.
 */
export const shortened = (slug: string): string => {
  if (slug.length <= LONGEST) return slug;
  const cut = slug.slice(0, LONGEST);
  const end = slug[LONGEST] === '-' ? LONGEST : cut.lastIndexOf('-');
  return end > LONGEST / 2 ? cut.slice(0, end) : cut;
};

/**
 * The slug of a title in any script: letters are transliterated, emoji become their names. `fallback` is for titles
 * without a letter, a digit or an emoji.
 */
export const slugOf = (title: string, language: string, fallback: string): string => {
  const isGerman = language === 'de' || language.startsWith('de-');
  // Between signs of scripts without spaces, and between emoji, a word ends.
  const spaced = (isGerman ? inGerman(title) : title)
    .normalize('NFC')
    .replace(/\p{Script=Han}|\p{Extended_Pictographic}/gu, ' $& ');
  const slug = anyAscii(spaced)
    .toLowerCase()
    .replace(/['’`]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
  return shortened(slug) || fallback;
};

/** The slug without the number that made it unique. */
export const slugStem = (slug: string): string => slug.replace(/(-\d+)+$/, '');

/** `slug`, or with the first number from 2 on that makes it differ from those that are taken. */
export const firstFree = (slug: string, taken: ReadonlySet<string>): string => {
  if (!taken.has(slug)) return slug;
  let number = 2;
  while (taken.has(`${slug}-${number}`)) number += 1;
  return `${slug}-${number}`;
};
