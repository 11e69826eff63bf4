import { wordsOf } from './index.ts';

test.each([
  ['Offer no. 42/b: "Ada\'s" e-mail', ['offer', 'no', '42', 'b', 'ada', 's', 'e', 'mail']],
  ['ada@example.com, ADA', ['ada', 'example', 'com']],
  ['Ünnepnap ÁRVÍZ', ['ünnepnap', 'árvíz']],
  ['会議の議事録', ['会議', 'の', '議事', '録']],
  ['... --- !', []],
])('The words of %j', (text, words) => {
  expect(wordsOf(text)).toEqual({ words, truncated: false });
});

test('A word is cut after 60 characters', () => {
  expect(wordsOf('x'.repeat(1000)).words).toEqual(['x'.repeat(60)]);
});

test('Only the beginning of a long text is kept', () => {
  const many = Array.from({ length: 400_000 }, (_, index) => `w${index}`).join(' ');
  const { words, truncated } = wordsOf(many);
  expect(truncated).toBe(true);
  expect(words.slice(0, 2)).toEqual(['w0', 'w1']);
  expect(Buffer.byteLength(words.join(''))).toBeLessThanOrEqual(400_000);
});
