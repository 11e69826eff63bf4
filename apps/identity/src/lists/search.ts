/** Prisma hands `%`, `_` and `\` to LIKE as they are. */
const escaped = (text: string): string => text.replace(/[\\%_]/g, '\\$&');

/** A term that is found anywhere in a text, whatever its case. */
export const containsText = (term: string) =>
  ({ contains: escaped(term), mode: 'insensitive' }) as const;

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
