import { tenantForEachTest } from '../../testing/tenant.ts';

const { get, post, put, remove } = tenantForEachTest();
const path = '/api/crm/contacts';

const contact = async (...tags: string[]): Promise<string> =>
  (await post(path, { first_name: 'Ada', tags }).expect(201)).body.data.id;
const merge = (id: string, contact_id: string) =>
  post(`${path}/${id}/merge`, { contact_id }).expect(200);
const unmerge = (id: string, contact_id: string) =>
  post(`${path}/${id}/unmerge`, { contact_id }).expect(200);
const tagsOf = async (id: string): Promise<string[]> =>
  (await get(`${path}/${id}`).expect(200)).body.data.tags.sort();
const rename = (tag: string, name: string) => put(`/api/crm/tags/${tag}`, { name }).expect(200);

describe('Undoing a merge after a tag was renamed', () => {
  test.each<[string, string[], string[], string[], string[]]>([
    ['that was taken', [], ['old'], [], ['new']],
    ['that both had', ['old'], ['old'], ['new'], ['new']],
    ['that was taken, to one that the contact had', ['new'], ['old'], ['new'], ['new']],
    ['that the contact had, to one that was taken', ['old'], ['new'], ['new'], ['new']],
    ['to one that was taken as well', [], ['old', 'new'], [], ['new']],
  ])('%s', async (_what, own, given, left, returned) => {
    const [id, other] = [await contact('x', ...own), await contact('y', ...given)];
    await merge(id, other);
    await rename('old', 'new');
    expect(await tagsOf(id)).toEqual(['new', 'x', 'y']);
    await unmerge(id, other);
    expect(await tagsOf(id)).toEqual([...left, 'x']);
    expect(await tagsOf(other)).toEqual([...returned, 'y']);
  });

  test('leaves it as long as another merged contact has given it', async () => {
    const [id, first, second] = [await contact(), await contact('old'), await contact('new')];
    await merge(id, first);
    await merge(id, second);
    await rename('old', 'new');
    await unmerge(id, first);
    expect(await tagsOf(id)).toEqual(['new']);
    await unmerge(id, second);
    expect(await tagsOf(id)).toEqual([]);
  });

  test('leaves it if the contact lost the other tag before', async () => {
    const [id, other] = [await contact('old'), await contact('new')];
    await merge(id, other);
    await put(`${path}/${id}`, { tags: ['old'] }).expect(200);
    await rename('old', 'new');
    await unmerge(id, other);
    expect(await tagsOf(id)).toEqual(['new']);
  });
});

test('Undoing a merge after a tag was removed from all contacts leaves the tag that the contact has got since', async () => {
  const [id, other] = [await contact(), await contact('vip')];
  await merge(id, other);
  await remove('/api/crm/tags/vip').expect(200);
  await put(`${path}/${id}`, { tags: ['vip'] }).expect(200);
  await unmerge(id, other);
  expect(await tagsOf(id)).toEqual(['vip']);
});
