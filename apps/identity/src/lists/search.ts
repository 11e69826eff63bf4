import { text, withRule } from '@tessera/fields';

/** Prisma hands `%`, `_` and `\` to LIKE as they are. */
const escaped = (text: string): string => text.replace(/[\\%_]/g, '\\$&');

/** A term that is found anywhere in a text, whatever its case. */
export const containsText = (term: string) =>
  ({ contains: escaped(term), mode: 'insensitive' }) as const;

/** How many words a search may have: each is compared with several texts of each row. */
const MAX_WORDS = 10;

/** The words of a search, as a query parameter. */
export const searchWords = () =>
  withRule(text(200), (search) =>
    search.split(/\s+/).length > MAX_WORDS ? `must have at most ${MAX_WORDS} words` : undefined,
  );

/** Conditions on a person: each word of the search is in the address or in a name. None without a search. */
export const containsWords = (search: string | undefined) =>
  (search?.split(/\s+/) ?? []).map((word) => ({
    OR: [
      { email: containsText(word) },
      { firstName: containsText(word) },
      { lastName: containsText(word) },
    ],
  }));

/** A text that is the same, whatever its case. */
export const equalsText = (text: string) =>
  ({ equals: escaped(text), mode: 'insensitive' }) as const;
