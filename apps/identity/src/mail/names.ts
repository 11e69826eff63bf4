/** Maximum length of a name in a mail. */
const LENGTH = 80;

/** Invisible character that prevents mail clients from detecting links. */
const WORD_JOINER = '\u2060';

/**
 * Characters that show nothing themselves: they change the direction of the text around them, or hide in a word.
 * Variation selectors stay, since they choose between the forms of the letter before them.
 */
const INVISIBLE = /(?!\p{Variation_Selector})[\p{Default_Ignorable_Code_Point}\uFFF9-\uFFFB]/gu;

/**
 * Makes a user-provided name safe for a mail to somebody else: on one line, of limited length, without invisible
 * characters, and without text that mail clients turn into links.
 */
export const inertName = (name: string): string => {
  const visible = name.replace(INVISIBLE, '');
  const characters = [...visible.replace(/[\s\p{Cc}]+/gu, ' ').trim()];
  const short =
    characters.length > LENGTH
      ? `${characters.slice(0, LENGTH - 1).join('')}…`
      : characters.join('');
  return short.replace(/([.:/@])(?=\S)/g, `$1${WORD_JOINER}`);
};

/** Whoever signs in chooses the user agent, and thereby the names of the browser and the system. */
const NAMES = new Set(['firstName', 'tenant', 'tenants', 'inviter', 'browser', 'os']);

const safe = (value: unknown, name = ''): unknown => {
  if (Array.isArray(value)) return value.map((item) => safe(item, name));
  if (typeof value === 'string') {
    return NAMES.has(name) ? inertName(value) : value.replace(INVISIBLE, '');
  }
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, safe(part, key)]));
};

/** The data of a mail with safe names, and without invisible characters anywhere. */
export const withInertNames = <Data extends object>(data: Data): Data => safe(data) as Data;
