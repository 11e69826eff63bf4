/** A term that is found anywhere in a text, whatever its case. Prisma hands `%`, `_` and `\` to LIKE as they are. */
export const containsText = (term: string) =>
  ({ contains: term.replace(/[\\%_]/g, '\\$&'), mode: 'insensitive' }) as const;
