import { knownLetters } from '../testing/known-letters.ts';
import { openDatabase } from '../testing/records.ts';

const { pool, close } = await openDatabase();
afterAll(close);

/** How many letters one statement folds. */
const BATCH = 10_000;

interface Folded {
  readonly key: string;
  readonly is_known: boolean;
}

const folded = async (texts: readonly string[]): Promise<Folded[]> => {
  const isKnown = await knownLetters(pool);
  const all: Folded[] = [];
  for (let at = 0; at < texts.length; at += BATCH) {
    const { rows } = await pool.query<Folded>(
      `SELECT tenant_crm.search_key(text) AS key, ${isKnown('text')} AS is_known
       FROM unnest($1::text[]) WITH ORDINALITY AS given (text, number) ORDER BY number`,
      [texts.slice(at, at + BATCH)],
    );
    all.push(...rows);
  }
  return all;
};

/** A diacritic in lower case and a letter in upper case: the iota of Greek below a vowel. Searches ignore diacritics. */
const IOTA_BELOW = '\u0345';
/** unaccent takes the half ring of this letter for a diacritic, and not that of its upper case. */
const HALF_RING = 'ẚ';

const isExcepted = (letter: string): boolean =>
  letter === HALF_RING || letter.normalize('NFD').includes(IOTA_BELOW);

test('Every letter of Unicode is found in every case', async () => {
  // Those with a case, or that are the case of another one: all other letters are the same in both.
  const letters = Array.from({ length: 0x110000 }, (_, code) => String.fromCodePoint(code)).filter(
    (letter) => letter.toLowerCase() !== letter || letter.toUpperCase() !== letter,
  );
  expect(letters.length).toBeGreaterThan(2800);
  const own = await folded(letters);
  const upper = await folded(letters.map((letter) => letter.toUpperCase()));
  const lower = await folded(letters.map((letter) => letter.toLowerCase()));
  const differing = letters.filter((letter, index) => {
    const forms = [own[index], upper[index], lower[index]];
    const isKnown = forms.every((form) => form?.is_known);
    return isKnown && !isExcepted(letter) && new Set(forms.map((form) => form?.key)).size > 1;
  });
  expect(differing).toEqual([]);
});

test('Text is folded letter by letter, so that what is marked is what is found', async () => {
  const texts = ['ΣΊΣΥΦΟΣ', 'Γιώργος', 'Straße', 'İstanbul', 'ﬁne', 'Երևան', '№ 5', 'Å'];
  const keysOf = async (some: readonly string[]) => (await folded(some)).map(({ key }) => key);
  const whole = await keysOf(texts);
  const letters = await Promise.all(texts.map((text) => keysOf([...text])));
  expect(letters.map((keys) => keys.join(''))).toEqual(whole);
  // Folding what is folded changes nothing.
  expect(await keysOf(whole)).toEqual(whole);
});
