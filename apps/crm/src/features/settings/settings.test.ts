import { tenantForEachTest } from '../../testing/tenant.ts';
import { readSettings } from './settings.service.ts';

const { crm, caller, get, put } = tenantForEachTest();
const path = '/api/crm/settings';
const WEEK = [1, 2, 3, 4, 5];
const defaults = {
  content_language: 'en',
  working_week: WEEK,
  message_recall_minutes: 15,
  public_reading: false,
  public_site_url: null,
  public_site_name: null,
  comment_moderation: false,
};

describe('Settings of a tenant', () => {
  test('have their defaults until one is changed', async () => {
    const { body, headers } = await get(path).expect(200);
    expect(body.data).toEqual({ ...defaults, updated_at: null });
    await get(path, { 'If-None-Match': headers.etag as string }).expect(304);
  });

  test('are changed for the whole tenant and no other one, with a new version', async () => {
    const before = await get(path);
    const { body, headers } = await put(path, { working_week: [7, 1, 2, 3, 4] }).expect(200);
    expect(body.data).toEqual({
      ...defaults,
      working_week: [7, 1, 2, 3, 4],
      updated_at: expect.stringMatching(/Z$/),
    });
    expect(headers.etag).not.toBe(before.headers.etag);
    const shown = await get(path, caller());
    expect([shown.body, shown.headers.etag]).toEqual([body, headers.etag]);
    const other = await crm()
      .http.get(path)
      .set(crm().caller({ tenant: 'globex' }));
    expect(other.body.data.working_week).toEqual(WEEK);
  });

  test('that are null are reset to their default; those that are left out stay unchanged', async () => {
    const { headers } = await put(path, { working_week: [6] }).expect(200);
    const unchanged = await put(path, {}).expect(200);
    expect([unchanged.headers.etag, unchanged.body.data.working_week]).toEqual([headers.etag, [6]]);
    const restored = await put(path, { working_week: null }).expect(200);
    expect(restored.body.data.working_week).toEqual(WEEK);
  });

  test('are changed only if If-Match names their version, also before their first change', async () => {
    const { headers } = await get(path);
    await put(path, { working_week: [1] }, { 'If-Match': '"7"' }).expect(412);
    await put(path, {}, { 'If-Match': '"7"' }).expect(412);
    expect((await get(path)).body.data.updated_at).toBeNull();
    const changed = await Promise.all(
      [1, 2, 3].map((day) =>
        put(path, { working_week: [day] }, { 'If-Match': headers.etag as string }),
      ),
    );
    expect(changed.map(({ status }) => status).sort()).toEqual([200, 412, 412]);
    expect((await get(path)).headers.etag).toBe('"2"');
  });

  test.each([
    [[], 'working_week'],
    [[0], 'working_week.0'],
    [[1, 8], 'working_week.1'],
    [[1, 1], 'working_week.1'],
    ['Monday', 'working_week'],
  ])('with the working week %j are a 422 that names the field', async (working_week, field) => {
    const { status, body } = await put(path, { working_week });
    expect([status, Object.keys(body.errors)]).toEqual([422, [field]]);
  });

  test('are read by features in the transaction of a change', async () => {
    const holder = caller();
    await put(path, { working_week: [6, 7] }, holder).expect(200);
    const { rows } = await crm().context.pool.query(
      'SELECT tenant_id FROM tenant_crm.tenant_settings WHERE settings @> \'{"working_week": [6, 7]}\'',
    );
    const db = crm().context.database.forTenant(rows[0].tenant_id);
    expect(await db.transaction(readSettings)).toEqual({ ...defaults, working_week: [6, 7] });
  });

  test('whose stored value no longer validates have their default', async () => {
    await put(path, { working_week: [6] }).expect(200);
    await crm().context.pool.query(
      `UPDATE tenant_crm.tenant_settings SET settings = '{"working_week": "always", "unknown": 1}'`,
    );
    expect((await get(path)).body.data.working_week).toEqual(WEEK);
  });
});
