import { validate } from '@tessera/fields';
import { searchWords } from './search.ts';

test('A search has a limited number of words, each of which is compared with each row', () => {
  const words = (count: number) => Array(count).fill('a').join(' ');
  expect(validate(searchWords(), words(10), 'search')).toEqual({ ok: true, value: words(10) });
  expect(validate(searchWords(), words(11), 'search')).toMatchObject({
    ok: false,
    errors: { search: [expect.stringContaining('10 words')] },
  });
});
