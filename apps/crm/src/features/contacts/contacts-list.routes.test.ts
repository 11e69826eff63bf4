import { tenantForEachTest } from '../../testing/tenant.ts';

const path = '/api/crm/contacts';

const { get, post } = tenantForEachTest();

describe('The list', () => {
  const people = async (...names: string[]) => {
    for (const first_name of names) {
      await post(path, { first_name, tags: ['x?'] }).expect(201);
    }
  };
  const namesOf = (body: { data: { first_name: string }[] }) => body.data.map((c) => c.first_name);

  test('shows the newest contacts first, with links that keep all other parameters', async () => {
    await people('A', 'B', 'C', 'D', 'E');
    const { body } = await get(`${path}?tag=x?&per_page=2&page=2&search=%20`);
    expect(namesOf(body)).toEqual(['C', 'B']);
    expect(body.meta).toEqual({ current_page: 2, last_page: 3, per_page: 2, total: 5 });
    const link = (page: number) => `${path}?tag=x%3F&per_page=2&page=${page}&search=+`;
    expect(body.links).toEqual({ first: link(1), last: link(3), prev: link(1), next: link(3) });
    const last = await get(body.links.next);
    expect(namesOf(last.body)).toEqual(['A']);
    expect(last.body.links).toMatchObject({ prev: link(2), next: null });
    expect((await get(path)).body.links.prev).toBeNull();
  });

  test('clamps page and per_page to their bounds', async () => {
    await people('A', 'B');
    const metaOf = async (query: string) => (await get(`${path}?${query}`)).body.meta;
    expect(await metaOf('per_page=0')).toMatchObject({ per_page: 1, last_page: 2 });
    expect(await metaOf('per_page=-9')).toMatchObject({ per_page: 1 });
    expect(await metaOf('per_page=1000')).toMatchObject({ per_page: 100 });
    expect(await metaOf('page=0')).toMatchObject({ current_page: 1, per_page: 25 });
    expect(await metaOf('page=-1')).toMatchObject({ current_page: 1 });
    expect(await metaOf('page=999999999999&per_page=1')).toMatchObject({ current_page: 2 });
  });

  test('is empty for a tenant without contacts', async () => {
    const { status, body } = await get(path);
    expect(status).toBe(200);
    expect(body).toEqual({
      data: [],
      meta: { current_page: 1, last_page: 1, per_page: 25, total: 0 },
      links: { first: `${path}?page=1`, last: `${path}?page=1`, prev: null, next: null },
    });
  });

  test.each([
    ['sort=title', 'sort'],
    ['sort=-', 'sort'],
    ['sort=name,email', 'sort'],
    ['per_page=ten', 'per_page'],
    ['page=1.5', 'page'],
    ['color=red', 'color'],
    ['tag=a&tag=b', 'tag'],
    ['company_id=1', 'company_id'],
    ['created_from=2020-02-31T00:00:00Z', 'created_from'],
    ['exact_total=maybe', 'exact_total'],
    ['search=a%00b', 'search'],
    [`search=${'x'.repeat(201)}`, 'search'],
    [`search=${'x'.repeat(10_000)}`, 'search'],
  ])('rejects ?%.30s and names the parameter', async (query, name) => {
    const refused = await get(`${path}?${query}`);
    expect(refused.status).toBe(422);
    expect(Object.keys(refused.body.errors)).toEqual([name]);
  });

  test('accepts a search of 200 characters, and any characters', async () => {
    await people('A');
    for (const search of [
      'x'.repeat(200),
      '\u{1f642}'.repeat(200),
      '%_\\%_\\',
      "'; --",
      '\t',
      '',
    ]) {
      const { status, body } = await get(`${path}?search=${encodeURIComponent(search)}`);
      expect([status, body.meta.total]).toEqual([200, search.trim() ? 0 : 1]);
    }
  });
});
