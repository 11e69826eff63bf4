/** Prisma hands `%`, `_` and `\` to LIKE as they are. */
const escaped = (text: string): string => text.replace(/[\\%_]/g, '\\$&');

/** A term that is found anywhere in a text, whatever its case. */
export const containsText = (term: string) =>
  ({ contains: escaped(term), mode: 'insensitive' }) as const;

/** A text that is the same, whatever its case. */
export const equalsText = (text: string) =>
  ({ equals: escaped(text), mode: 'insensitive' }) as const;
