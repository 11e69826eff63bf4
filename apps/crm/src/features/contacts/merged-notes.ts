/** The most characters that the notes of a contact have. */
export const MAX_NOTES = 10_000;

/** What separates the notes of two contacts. */
const BREAK = '\n\n';

/** Whether notes contain others, not within a paragraph. */
export const containsNotes = (notes: string | null, others: string): boolean =>
  notes !== null && `${BREAK}${notes}${BREAK}`.includes(`${BREAK}${others}${BREAK}`);

/** Notes followed by others. */
export const joinedNotes = (notes: string | null, others: string): string =>
  notes === null ? others : `${notes}${BREAK}${others}`;

/** Notes without others that they contain; null if nothing is left. */
export const withoutNotes = (notes: string, others: string): string | null => {
  const at = `${BREAK}${notes}${BREAK}`.lastIndexOf(`${BREAK}${others}${BREAK}`);
  const before = notes.slice(0, Math.max(0, at - BREAK.length));
  const after = notes.slice(at + others.length + BREAK.length);
  return [before, after].filter((part) => part !== '').join(BREAK) || null;
};
