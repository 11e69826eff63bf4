import { validate, version } from 'uuid';
import { newIds } from './new-ids.ts';

test('New ids are in ascending order, each another one, and of version 7', () => {
  const before = Date.now();
  const ids = newIds(5000);
  expect(ids).toEqual([...new Set(ids)].sort());
  expect(ids).toHaveLength(5000);
  for (const id of ids) {
    expect(validate(id) && version(id)).toBe(7);
    const created = Number.parseInt(id.replace('-', '').slice(0, 12), 16);
    expect(created).toBeGreaterThanOrEqual(before);
    expect(created).toBeLessThanOrEqual(Date.now());
  }
  const again = newIds(5000);
  expect(new Set([...ids, ...again]).size).toBe(10_000);
  expect(newIds(0)).toEqual([]);
});
