/** Maximum length of a name in a mail. */
const LENGTH = 80;

/** Invisible character that prevents mail clients from detecting links. */
const WORD_JOINER = '\u2060';

/**
 * Makes a user-provided name safe for a mail to somebody else: on one line, of limited length, and without text
 * that mail clients turn into links.
 */
export const inertName = (name: string): string => {
  const characters = [...name.replace(/[\s\p{Cc}]+/gu, ' ').trim()];
  const short =
    characters.length > LENGTH
      ? `${characters.slice(0, LENGTH - 1).join('')}…`
      : characters.join('');
  return short.replace(/([.:/@])(?=\S)/g, `$1${WORD_JOINER}`);
};

const NAMES = new Set(['firstName', 'tenant', 'tenants', 'inviter']);

const inert = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(inert);
  return typeof value === 'string' ? inertName(value) : value;
};

/** The data of a mail with safe names. */
export const withInertNames = <Data extends object>(data: Data): Data => {
  const safe = Object.entries(data).map(([name, value]) => [
    name,
    NAMES.has(name) ? inert(value) : value,
  ]);
  return Object.fromEntries(safe);
};
