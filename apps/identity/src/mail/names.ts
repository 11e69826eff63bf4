/** Characters of a name that a mail shows. */
const LENGTH = 80;

/** Shown as nothing, and no part of an address that mail programs recognise. */
const WORD_JOINER = '\u2060';

/**
 * A name that somebody made up, for a mail to somebody else: on one line, of a decent length, and nothing in
 * it is what mail programs make a link of.
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

/** What a mail tells, with the names in it made inert. */
export const withInertNames = <Data extends object>(data: Data): Data => {
  const told = Object.entries(data).map(([name, value]) => [
    name,
    NAMES.has(name) ? inert(value) : value,
  ]);
  return Object.fromEntries(told);
};
