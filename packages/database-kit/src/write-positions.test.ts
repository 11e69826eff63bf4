import { memoryPositions, parsePosition } from './write-positions.ts';

test('Positions are ordered like the log', () => {
  const texts = ['0/0', '0/FF', '0/FFFFFFFF', '1/0', '16/B374D848', 'FFFFFFFF/FFFFFFFF'];
  const positions = texts.map(parsePosition);
  expect(positions).toEqual([...positions].sort((a, b) => (a < b ? -1 : 1)));
  expect(new Set(positions).size).toBe(texts.length);
});

test('The position of a tenant only grows', async () => {
  const positions = memoryPositions();
  expect(await positions.get('a')).toBeUndefined();
  await positions.note('a', 5n);
  await positions.note('a', 3n);
  expect(await positions.get('a')).toBe(5n);
});

test('The newest evicted position applies to all unknown tenants', async () => {
  const positions = memoryPositions();
  await positions.note('first', 7n);
  for (let n = 0; n < 100_000; n += 1) await positions.note(`tenant ${n}`, 9n);
  expect(await positions.get('first')).toBe(7n);
  expect(await positions.get('tenant 5')).toBe(9n);
});
