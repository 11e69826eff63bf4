/** A part of a passage. */
export interface MarkedPart {
  readonly text: string;
  readonly is_match: boolean;
}

/** How long a passage is, in characters, and how much of it is before the first match. */
const LENGTH = 200;
const BEFORE = 60;

/** A range of characters: the first, and the one after the last. */
type Range = readonly [from: number, to: number];

/** The ranges of letters whose folded forms contain the folded term. */
const matches = (letters: readonly string[], term: string, fold: Fold): Range[] => {
  const folds = letters.map(fold);
  const folded = folds.join('');
  // Of each unit of the folded text, the letter that it comes from: a letter may fold to several, or to none.
  const origins: number[] = [];
  for (const [letter, { length }] of folds.entries()) {
    for (let unit = 0; unit < length; unit += 1) origins.push(letter);
  }
  const found: Range[] = [];
  let at = folded.indexOf(term);
  while (at >= 0) {
    const end = at + term.length;
    let last = origins[end - 1] ?? 0;
    while (folds[last + 1] === '') last += 1;
    found.push([origins[at] ?? 0, last + 1]);
    // The others are outside of the passage.
    if (last > (found[0]?.[1] ?? 0) + LENGTH) break;
    at = folded.indexOf(term, end);
  }
  return found;
};

const isSpace = (letter: string | undefined): boolean => letter?.trim() === '';

/** The part of the letters around the first match; it begins and ends with whole words if those are short. */
const around = (letters: readonly string[], [from, to]: Range): Range => {
  let start = Math.max(from - BEFORE, 0);
  if (start > 0) {
    const space = letters.findIndex((letter, index) => index >= start - 1 && isSpace(letter));
    start = space >= 0 && space < from ? space + 1 : start;
  }
  let end = Math.min(Math.max(start + LENGTH, to), letters.length);
  if (end < letters.length) {
    let space = end;
    while (space > to && !isSpace(letters[space])) space -= 1;
    if (isSpace(letters[space])) end = space;
  }
  return [start, end];
};

/** The form of a letter that searches compare. */
type Fold = (letter: string) => string;

/** The passage of a text around the first match, with all matches in it; nothing if there is none. */
export const markedParts = (text: string, term: string, fold: Fold): MarkedPart[] => {
  const letters = [...text];
  const found = term === '' ? [] : matches(letters, term, fold);
  const [first] = found;
  if (!first) return [];
  const [start, end] = around(letters, first);
  const parts: MarkedPart[] = [];
  const add = (from: number, to: number, is_match: boolean): void => {
    if (from < to) parts.push({ text: letters.slice(from, to).join(''), is_match });
  };
  let done = start;
  for (const [from, to] of found) {
    if (to > end) break;
    add(done, from, false);
    // Two matches may share a letter that folds to several.
    add(Math.max(from, done), to, true);
    done = Math.max(done, to);
  }
  add(done, end, false);
  return parts;
};
