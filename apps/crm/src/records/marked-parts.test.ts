import { markedParts } from './marked-parts.ts';

const folds: Readonly<Record<string, string>> = {
  ß: 'ss',
  á: 'a',
  Á: 'a',
  '\u0301': '',
  '№': 'no',
};
const fold = (letter: string): string => folds[letter] ?? letter.toLowerCase();
/** The passage with its matches in brackets. */
const marked = (text: string, term: string): string =>
  markedParts(text, term, fold)
    .map(({ text: part, is_match }) => (is_match ? `[${part}]` : part))
    .join('');

test.each([
  ['Ann and ann', 'ann', '[Ann] and [ann]'],
  ['Árak', 'a', '[Á]r[a]k'],
  ['Die Straße, Strasse', 'strasse', 'Die [Straße], [Strasse]'],
  ['Maß', 's', 'Ma[ß]'],
  ['a\u0301b', 'a', '[a\u0301]b'],
  ['№ 5', 'no 5', '[№ 5]'],
  ['😀 ann 😀', 'ann', '😀 [ann] 😀'],
  ['nothing', 'ann', ''],
  ['nothing', '', ''],
])('%j searched for %j is %j', (text, term, passage) => {
  expect(marked(text, term)).toBe(passage);
});

test('A passage is about 200 characters of whole words around the first match', () => {
  const text = `${'word '.repeat(100)}match ${'word '.repeat(100)}match`;
  const passage = marked(text, 'match');
  expect(passage).toMatch(/^(word ){10,12}\[match\]( word){20,28}$/);
  expect(marked(`match${'x'.repeat(500)}`, 'match')).toBe(`[match]${'x'.repeat(195)}`);
  expect(marked(`${'x'.repeat(500)}match`, 'match')).toBe(`${'x'.repeat(60)}[match]`);
  expect(marked(`a ${'x'.repeat(300)} b`, 'x'.repeat(300))).toBe(`a [${'x'.repeat(300)}]`);
});
