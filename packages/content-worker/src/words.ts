/** Longer words are cut: PostgreSQL limits a lexeme to 2 KB, and folding may make a word longer. */
const MAX_CHARACTERS = 60;

/** How many characters of a text are searched for words. */
export const MAX_TEXT = 1024 * 1024;

/** How many bytes of different words are kept; PostgreSQL limits their vector to 1 MB. */
const MAX_BYTES = 400_000;

const WORDS = /[\p{L}\p{M}\p{N}]+/gu;

/** Scripts that are written without spaces between words. A dictionary is needed to separate the words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const segmenter = new Intl.Segmenter('und', { granularity: 'word' });

/** The different words of a text, and whether it has more than are kept. */
export interface Words {
  readonly words: readonly string[];
  readonly truncated: boolean;
}

function* segmentsOf(text: string): Generator<string> {
  for (const [run] of text.matchAll(WORDS)) {
    if (!UNSPACED.test(run)) yield run;
    // A file may consist of one run; the segmenter is slow on long ones.
    else
      for (const part of run.match(/.{1,2000}/gsu) ?? []) {
        for (const { segment } of segmenter.segment(part)) yield segment;
      }
  }
}

/** The different words of a text in lower case, in the order in which they first occur. */
export const wordsOf = (text: string): Words => {
  const words = new Set<string>();
  let bytes = 0;
  for (const segment of segmentsOf(text.slice(0, MAX_TEXT).toWellFormed())) {
    const word = [...segment.toLowerCase()].slice(0, MAX_CHARACTERS).join('');
    if (words.has(word)) continue;
    bytes += Buffer.byteLength(word);
    if (bytes > MAX_BYTES) return { words: [...words], truncated: true };
    words.add(word);
  }
  return { words: [...words], truncated: text.length > MAX_TEXT };
};
