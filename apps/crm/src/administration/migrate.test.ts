import { freshDatabase } from '@tessera/local-stack';
import pg from 'pg';
import { runAdmin } from '../testing/admin.ts';

test('crm-admin migrates an empty database, and then finds nothing to do', async () => {
  const { url } = await freshDatabase('empty', async () => {});
  const crm = {
    context: { config: { database: { url } } },
    identity: { url: 'http://identity.invalid' },
  };
  for (const _round of [1, 2]) {
    expect(await runAdmin(crm, ['migrate'])).toEqual({
      code: 0,
      output: { migrated: true },
    });
  }
  expect(await runAdmin(crm, ['migrate', '--retry', '20250101000000_other'])).toEqual({
    code: 1,
    output: { error: 'This release has no migration 20250101000000_other.' },
  });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(
    "SELECT to_regclass('tenant_crm.contacts') IS NOT NULL AS is_there",
  );
  await client.end();
  expect(rows).toEqual([{ is_there: true }]);
});
