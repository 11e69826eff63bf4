import { caseFolded } from '@tessera/fields';
import { knownLetters } from '../../testing/known-letters.ts';
import { tenantForEachTest } from '../../testing/tenant.ts';

const { crm, get, post, put, remove } = tenantForEachTest();

const contacts = '/api/crm/contacts';
const created = async (path: string, fields: object) =>
  (await post(`/api/crm/${path}`, fields).expect(201)).body.data;
const contact = (...tags: string[]) => created('contacts', { first_name: 'Ada', tags });
const listed = async (path = 'tags') =>
  (await get(`/api/crm/${path}`).expect(200)).body.data.map(
    ({ name, count }: { readonly name: string; readonly count: number }) => [name, count],
  );
const totalOf = async (path: string, tag: string) =>
  (await get(`/api/crm/${path}?tag=${encodeURIComponent(tag)}`).expect(200)).body.meta.total;

describe('Tags are one whatever their case and Unicode form', () => {
  const composed = 'Érték';
  const decomposed = composed.normalize('NFD').toUpperCase();

  test('in lists of tags, which show the most frequent spelling', async () => {
    for (const tag of ['vip', 'VIP', 'VIP', composed, decomposed]) await contact(tag);
    await created('companies', { name: 'Acme', tags: ['Vip'] });
    expect(await listed()).toEqual([
      [expect.stringMatching(/^érték$/i), 2],
      ['VIP', 4],
    ]);
    const { body } = await get('/api/crm/tags/vIp').expect(200);
    expect(body.data).toEqual({ name: 'VIP', count: 4, contacts_count: 3, companies_count: 1 });
  });

  test('in filters, whose totals are exact', async () => {
    await contact('vip', 'lead');
    await contact('VIP');
    for (const tag of ['vip', 'Vip', 'VIP']) expect(await totalOf('contacts', tag)).toBe(2);
    await created('companies', { name: 'Acme', tags: [composed] });
    expect(await totalOf('companies', decomposed)).toBe(1);
    await contact('Γιώργος');
    expect(await totalOf('contacts', 'ΓΙΏΡΓΟΣ')).toBe(1);
    const exported = await get(`${contacts}/export?tag=vIP`).expect(200);
    expect(exported.text.trimEnd().split('\r\n')).toHaveLength(3);
  });

  test('in the filters of articles and documents', async () => {
    await created('kb-articles', { title: 'A', tags: ['How-to'] });
    expect(await totalOf('kb-articles', 'HOW-TO')).toBe(1);
    expect(await listed('content-tags')).toEqual([['How-to', 1]]);
  });

  test('in one record, which has each of them once', async () => {
    const twice = { first_name: 'Ada', tags: ['vip', 'lead', 'VIP'] };
    const { body } = await post(contacts, twice).expect(422);
    expect(Object.keys(body.errors)).toEqual(['tags.2']);
    const { id } = await contact('VIP', 'lead');
    await remove(`${contacts}/${id}/tags/vip`).expect(204);
    expect((await get(`${contacts}/${id}`)).body.data.tags).toEqual(['lead']);
    await remove(`${contacts}/${id}/tags/vip`).expect(404);
  });

  test('when contacts are merged, and when that is undone after the tag was renamed', async () => {
    const [one, other] = [await contact('vip'), await contact('VIP', 'Lead')];
    const merge = (action: string) =>
      post(`${contacts}/${one.id}/${action}`, { contact_id: other.id }).expect(200);
    expect((await merge('merge')).body.data.tags).toEqual(['vip', 'Lead']);
    await put('/api/crm/tags/LEAD', { name: 'prospect' }).expect(200);
    expect((await merge('unmerge')).body.data.tags).toEqual(['vip']);
  });

  test('when they are renamed or deleted, in deleted records, too', async () => {
    const records = [
      await contact('vip', 'a'),
      await contact('VIP', 'b', 'key ACCOUNT'),
      await contact('Vip'),
    ];
    await remove(`${contacts}/${records[2].id}`).expect(204);
    const { body } = await put('/api/crm/tags/vIp', { name: 'Key account' }).expect(200);
    expect(body.data).toMatchObject({ contacts_count: 3, is_complete: true });
    await post(`${contacts}/${records[2].id}/restore`).expect(200);
    const tags = async () => {
      const found = [];
      for (const { id } of records) found.push((await get(`${contacts}/${id}`)).body.data.tags);
      return found;
    };
    expect(await tags()).toEqual([['Key account', 'a'], ['b', 'key ACCOUNT'], ['Key account']]);
    // The spelling alone is another name, too.
    const respelled = await put('/api/crm/tags/key account', { name: 'KEY ACCOUNT' }).expect(200);
    expect(respelled.body.data).toMatchObject({ contacts_count: 3 });
    expect(await tags()).toEqual([['KEY ACCOUNT', 'a'], ['b', 'KEY ACCOUNT'], ['KEY ACCOUNT']]);
    const again = await put('/api/crm/tags/KEY ACCOUNT', { name: 'KEY ACCOUNT' }).expect(200);
    expect(again.body.data).toMatchObject({ contacts_count: 0, is_complete: true });
    await remove('/api/crm/tags/key account').expect(200);
    expect(await tags()).toEqual([['a'], ['b'], []]);
    await put('/api/crm/tags/key account', { name: 'x' }).expect(404);
  });
});

test.each(['.', '..', ' . ', '\u200b.'])(
  'The tag %j is refused, because it has another meaning in URLs',
  async (tag) => {
    const { body } = await post(contacts, { first_name: 'Ada', tags: ['ok', tag] }).expect(422);
    expect(body.errors).toEqual({ 'tags.1': ['tags.1 must not be "." or ".."'] });
  },
);

test('Tags have no invisible characters, and keep the joiners of emoji', async () => {
  const { tags } = await contact('\u200bV\u200bIP\ufeff', '👩‍💻', '…');
  expect(tags).toEqual(['VIP', '👩‍💻', '…']);
  const blank = await post(contacts, { first_name: 'Ada', tags: ['\u200b\u2060'] }).expect(422);
  expect(Object.keys(blank.body.errors)).toEqual(['tags.0']);
});

test('Tags that are one in the database are one when a record gets them', async () => {
  const letters = Array.from({ length: 0x110000 }, (_, code) => String.fromCodePoint(code)).filter(
    (letter) => letter.toLowerCase() !== letter || letter.toUpperCase() !== letter,
  );
  const { pool } = crm().context;
  const isKnown = await knownLetters(pool);
  const { rows } = await pool.query<{ letters: string[] }>(
    `SELECT array_agg(letter) AS letters FROM unnest($1::text[]) AS letter
     WHERE ${isKnown('letter')} GROUP BY tenant_crm.tag_key(letter)`,
    [letters],
  );
  expect(rows.length).toBeGreaterThan(1300);
  const differing = rows.filter((row) => new Set(row.letters.map(caseFolded)).size > 1);
  expect(differing).toEqual([]);
});

test.each([
  ['groß', 'GROẞ'],
  ['GROSS', 'groẞ'],
  ['istanbul', 'İSTANBUL'],
])('%s and %s are one tag of a record', async (one, other) => {
  const twice = { first_name: 'Ada', tags: [one, other] };
  expect(Object.keys((await post(contacts, twice).expect(422)).body.errors)).toEqual(['tags.1']);
  const { id } = await contact(one);
  await remove(`${contacts}/${id}/tags/${encodeURIComponent(other)}`).expect(204);
});
