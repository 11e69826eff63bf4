import { importingFiles } from '../../testing/import-files.ts';
import { tenantForEachTest } from '../../testing/tenant.ts';

const tenant = tenantForEachTest();
const { crm, get, post } = tenant;
const path = '/api/crm/companies';

describe('A domain in Unicode and in ASCII is one', () => {
  const company = async (domain: string) =>
    (await post(path, { name: 'Köln', domain }).expect(201)).body.data;

  test('when a company is created and found by it, with white space and invisible characters around it', async () => {
    const domains = [
      'köln.example',
      'xn--kln-sna.example',
      ' KÖLN.example\u200b',
      'ko\u0308ln.example',
    ];
    for (const domain of domains) {
      expect((await company(domain)).domain).toBe('köln.example');
      const { body } = await get(`${path}?domain=${encodeURIComponent(domain)}`).expect(200);
      expect(body.meta.total).toBe(domains.indexOf(domain) + 1);
    }
    const duplicates = await get(`${path}/duplicates`).expect(200);
    expect(duplicates.body.data[0].companies).toHaveLength(domains.length);
  });

  test('in filters, also of companies whose domain an earlier release stored in ASCII', async () => {
    const { id } = await company('köln.example');
    await crm().context.pool.query(
      `UPDATE tenant_crm.companies SET domain = 'xn--kln-sna.example' WHERE tenant_id = $1 AND id = $2`,
      [tenant.tenant().id, id],
    );
    for (const domain of ['köln.example', 'www.xn--kln-sna.example']) {
      const { body } = await get(`${path}?domain=${encodeURIComponent(domain)}`).expect(200);
      expect(body.meta.total).toBe(1);
    }
  });

  test('in imports, and in the addresses of contacts', async () => {
    const { importFile } = importingFiles(tenant);
    await company('köln.example');
    const file = 'name,domain\nOther,xn--kln-sna.example\n';
    expect(await importFile(file, { resource: 'companies' })).toMatchObject({ rows_skipped: 1 });
    const contact = {
      first_name: '\u200bAda',
      email: ' ada@xn--kln-sna.example ',
      phone: ' 1\u202c',
    };
    const { body } = await post('/api/crm/contacts', contact).expect(201);
    expect(body.data).toMatchObject({ first_name: 'Ada', email: 'ada@köln.example', phone: '1' });
    const found = await get('/api/crm/contacts?email=ada@xn--kln-sna.example').expect(200);
    expect(found.body.meta.total).toBe(1);
  });
});
