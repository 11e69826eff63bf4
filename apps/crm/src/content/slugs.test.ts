import { slug as slugField } from './content.schema.ts';
import { firstFree, MAX_SLUG, slugOf, slugStem } from './slugs.ts';

test.each([
  ['How to reset a password?', 'en', 'how-to-reset-a-password'],
  ["Don't panic", 'en', 'dont-panic'],
  ['Árvíztűrő tükörfúrógép', 'hu', 'arvizturo-tukorfurogep'],
  ['Größe über Öl', 'de', 'groesse-ueber-oel'],
  ['Größe', 'de-AT', 'groesse'],
  ['Привет, мир', 'ru', 'privet-mir'],
  ['Καλημέρα κόσμε', 'el', 'kalimera-kosme'],
  ['你好，世界', 'zh', 'ni-hao-shi-jie'],
  ['こんにちは', 'ja', 'konnichiha'],
  ['مرحبا', 'ar', 'mrhb'],
  ['🎉🚀', 'en', 'tada-rocket'],
  ['!!!', 'en', 'article'],
])('The slug of %j in %s is %j', (title, language, slug) => {
  expect(slugOf(title, language, 'article')).toBe(slug);
});

test('Slugs are short enough for a number, and valid', () => {
  const long = slugOf('word '.repeat(100), 'en', 'article');
  expect(long).toMatch(/^word(-word)+$/);
  expect(`${long}-999999999`.length).toBeLessThanOrEqual(MAX_SLUG);
  expect(slugOf('x'.repeat(500), 'en', 'article').length).toBeLessThan(MAX_SLUG);
  expect(new RegExp(`${slugField.json.pattern}`, 'u').test(slugOf('— É —', 'en', 'a'))).toBe(true);
});

test('A taken slug gets the first number that is free', () => {
  expect(firstFree('a', new Set(['b']))).toBe('a');
  expect(firstFree('a', new Set(['a', 'a-2', 'a-4']))).toBe('a-3');
  expect(slugStem('a-2-3')).toBe('a');
});
