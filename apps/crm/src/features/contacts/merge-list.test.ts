import { tenantForEachTest } from '../../testing/tenant.ts';

const { crm, caller, get, post, remove } = tenantForEachTest();
const path = '/api/crm/contacts';

const contact = async (fields: object): Promise<string> =>
  (await post(path, { first_name: 'Ada', ...fields }).expect(201)).body.data.id;
const merge = (id: string, contact_id: string) =>
  post(`${path}/${id}/merge`, { contact_id }).expect(200);
const merges = async (id: string, query = '') =>
  (await get(`${path}/${id}/merges${query}`).expect(200)).body;
const age = (contact_id: string, days: number) =>
  crm().context.pool.query(
    `UPDATE tenant_crm.contact_merges SET merged_at = now() - $1 * interval '1 day' WHERE merged_id = $2`,
    [days, contact_id],
  );

describe('The merges into a contact', () => {
  test('show which contact was merged, and until when the merge can be undone', async () => {
    const id = await contact({});
    const contact_id = await contact({ last_name: 'Lovelace', email: 'ada@b.example' });
    await merge(id, contact_id);
    const { data } = await merges(id);
    const { merged_at, reversible_until, ...shown } = data[0];
    expect(shown).toEqual({
      contact_id,
      first_name: 'Ada',
      last_name: 'Lovelace',
      email: 'ada@b.example',
    });
    expect(Date.parse(reversible_until) - Date.parse(merged_at)).toBe(30 * 86_400_000);
    await post(`${path}/${id}/unmerge`, { contact_id: data[0].contact_id }).expect(200);
    expect(await merges(id)).toMatchObject({ data: [], meta: { total: 0 } });
  });

  test('are listed newest first, and by page', async () => {
    const id = await contact({});
    const others = [await contact({}), await contact({}), await contact({})];
    for (const [days, other] of others.entries()) {
      await merge(id, other);
      await age(other, days);
    }
    const shown = ({ data }: { data: readonly { contact_id: string }[] }) =>
      data.map(({ contact_id }) => contact_id);
    expect(shown(await merges(id))).toEqual(others);
    const last = await merges(id, '?per_page=2&page=9');
    expect(shown(last)).toEqual(others.slice(2));
    expect(last.meta).toMatchObject({ current_page: 2, last_page: 2, total: 3 });
  });

  test('are those of a contact that the caller may see and that is not deleted', async () => {
    const [id, other] = [await contact({}), await contact({})];
    await merge(id, other);
    await get(`${path}/${id}/merges`, caller({ lacking: ['contacts.view'] })).expect(403);
    const foreign = crm().caller({ tenant: 'globex' });
    await crm().http.get(`${path}/${id}/merges`).set(foreign).expect(404);
    await get(`${path}/${other}/merges`).expect(404);
    await remove(`${path}/${id}`).expect(204);
    await get(`${path}/${id}/merges`).expect(404);
  });
});
