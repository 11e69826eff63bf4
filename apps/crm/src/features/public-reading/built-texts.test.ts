import { BuiltTexts } from './built-texts.ts';

test('A text is built once for all requests until its entity tag changes, and again after a failure', async () => {
  const texts = new BuiltTexts();
  let builds = 0;
  const build = async (): Promise<string> => {
    builds += 1;
    return `${builds}`;
  };
  const both = await Promise.all([texts.get('a', '"1"', build), texts.get('a', '"1"', build)]);
  expect([...both, await texts.get('a', '"1"', build)]).toEqual(['1', '1', '1']);
  expect(await texts.get('a', '"2"', build)).toBe('2');
  expect(await texts.get('b', '"2"', build)).toBe('3');
  const failed = texts.get('c', '"1"', () => Promise.reject(new Error('no database')));
  await expect(failed).rejects.toThrow('no database');
  expect(await texts.get('c', '"1"', build)).toBe('4');
  expect(texts.use).toMatchObject({ hits: 2, misses: 5, size: 3 });
});
