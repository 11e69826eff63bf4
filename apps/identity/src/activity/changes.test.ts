import { changesBetween, created, deleted } from './changes.ts';

describe('changesBetween', () => {
  test('names the fields that differ, by path, with both values', () => {
    const before = { name: 'A', versions: { api: '1' }, tags: ['x'], same: { deep: 1 } };
    const after = { name: 'B', versions: { api: '2', worker: '1' }, tags: [], same: { deep: 1 } };
    expect(changesBetween(before, after)).toEqual({
      name: { from: 'A', to: 'B' },
      'versions.api': { from: '1', to: '2' },
      'versions.worker': { from: null, to: '1' },
      tags: { from: ['x'], to: [] },
    });
  });

  test('is undefined if nothing differs', () => {
    expect(changesBetween({ a: 1, b: null }, { a: 1, b: null })).toBeUndefined();
    expect(changesBetween({}, { b: undefined })).toBeUndefined();
  });

  test('describes what was created and what was deleted', () => {
    expect(created({ name: 'A', email: null })).toEqual({ name: { from: null, to: 'A' } });
    expect(deleted({ name: 'A', email: null })).toEqual({ name: { from: 'A', to: null } });
  });

  test('records of lists that are too long the items that differ, as far as they fit', () => {
    const items = Array.from({ length: 300 }, (_, index) => `tenant.*.crm.resource-${index}.*`);
    expect(changesBetween({ items }, { items: [...items.slice(1), 'new'] })).toEqual({
      items: { from: [items[0]], to: ['new'], truncated: true },
    });
    const { items: all } = created({ items }) ?? {};
    expect(all?.truncated).toBe(true);
    const kept = all?.to as string[];
    expect(kept).toEqual(items.slice(0, kept.length));
    expect(JSON.stringify(all).length).toBeLessThan(4200);
    expect(kept.length).toBeGreaterThan(50);
  });

  test('shortens long texts', () => {
    const { text } = changesBetween({ text: 'short' }, { text: 'x'.repeat(9000) }) ?? {};
    expect(text).toEqual({ from: 'short', to: 'x'.repeat(4000), truncated: true });
  });
});
