import { inGroups } from './groups.ts';

test('Messages are divided into groups of a limited size, in their order', () => {
  const message = (key: string, length: number) => ({
    topic: 'test.things',
    key,
    value: 'x'.repeat(length),
  });
  const messages = [message('a', 300), message('b', 300), message('c', 5000), message('d', 10)];
  const keys = inGroups(messages, 1000).map((group) => group.map(({ key }) => key));
  expect(keys).toEqual([['a', 'b'], ['c'], ['d']]);
  expect(inGroups([])).toEqual([]);
});
