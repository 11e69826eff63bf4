import { cutName } from './cut-name.ts';

const cut = (name: string): string => cutName(name, 40);

test.each([
  ['a name that is short enough', 'Offer.pdf', 'Offer.pdf'],
  ['an extension', `${'a'.repeat(300)}.pdf`, `${'a'.repeat(36)}.pdf`],
  ['an extension of two parts', `${'a'.repeat(300)}.tar.gz`, `${'a'.repeat(33)}.tar.gz`],
  ['no extension', 'a'.repeat(300), 'a'.repeat(40)],
  ['a long text after a dot', `a.${'b'.repeat(300)}`, `a.${'b'.repeat(38)}`],
  ['a sentence after a dot', `${'a'.repeat(300)}. The end`, 'a'.repeat(40)],
  ['dots', `${'a.'.repeat(300)}pdf`, `${'a.'.repeat(17)}.a.pdf`],
  ['a space at the cut', `${'a'.repeat(35)} ${'b'.repeat(300)}.pdf`, `${'a'.repeat(35)}.pdf`],
  [
    'characters beyond the Basic Multilingual Plane',
    `${'😀'.repeat(300)}.pdf`,
    `${'😀'.repeat(36)}.pdf`,
  ],
  ['an extension in another script', `${'a'.repeat(300)}.документ`, `${'a'.repeat(31)}.документ`],
])('The cut name keeps its meaning: %s', (_, name, expected) => {
  expect(cut(name)).toBe(expected);
});

test('What is seen as one character is not cut', () => {
  // Each is 5 characters.
  expect(cut(`${'👩‍👩‍👧'.repeat(60)}.pdf`)).toBe(`${'👩‍👩‍👧'.repeat(7)}.pdf`);
  expect(cut(`${'e\u0301'.repeat(60)}a.pdf`)).toBe(`${'e\u0301'.repeat(18)}.pdf`);
  expect(cut(`a${'e\u0301'.repeat(60)}.pdf`)).toBe(`a${'e\u0301'.repeat(17)}.pdf`);
  // Flags are pairs.
  expect(cut(`a${'🇭🇺'.repeat(60)}.pdf`)).toBe(`a${'🇭🇺'.repeat(17)}.pdf`);
  // One that is longer than a name is cut, so that something is left.
  expect(cut(`e${'\u0301'.repeat(300)}.pdf`)).toBe(`e${'\u0301'.repeat(35)}.pdf`);
});
