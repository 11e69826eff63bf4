import { tenantForEachTest } from '../testing/tenant.ts';

const { crm, tenant, post } = tenantForEachTest();
const pages = '/api/crm/pages';
const slugOfNew = async (title: string): Promise<string> =>
  (await post(pages, { title, body: 'Text' }).expect(201)).body.data.slug;

test('Pages with one title are numbered, and at random once there are a thousand', async () => {
  expect([await slugOfNew('News'), await slugOfNew('News')]).toEqual(['news', 'news-2']);
  const { rowCount } = await crm().context.pool.query(
    `INSERT INTO tenant_crm.pages (tenant_id, id, title, slug, slug_follows_title, language, translation_group,
       body, body_html, body_text, word_count, position)
     SELECT tenant_id, new_id, title, 'news-' || number, slug_follows_title, language, new_id,
       body, body_html, body_text, word_count, position || number
     FROM tenant_crm.pages, LATERAL (
       SELECT number, gen_random_uuid() AS new_id FROM generate_series(3, 1000) AS number
     ) AS copies WHERE tenant_id = $1 AND slug = 'news'`,
    [tenant().id],
  );
  expect(rowCount).toBe(998);
  expect(await slugOfNew('News')).toMatch(/^news-\d{5,8}$/);
  expect(await slugOfNew('Newsletter')).toBe('newsletter');
});
