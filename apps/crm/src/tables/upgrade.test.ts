import { randomUUID } from 'node:crypto';
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { migrate } from '@tessera/database-kit';
import { freshDatabase } from '@tessera/local-stack';
import pg from 'pg';
import { migrations } from '../database.ts';
import { brokenTableRules } from '../testing/catalogue.ts';

const TENANT_KEYS = '20261122084500_tenant_keys';

/** Calls `work` with a directory of the migrations that precede the given one. */
const withMigrationsBefore = async (
  name: string,
  work: (directory: string) => Promise<unknown>,
): Promise<void> => {
  const directory = await mkdtemp(path.join(tmpdir(), 'tessera-upgrade-'));
  try {
    const all = fileURLToPath(migrations);
    for (const one of await readdir(all)) {
      if (one < name) await cp(path.join(all, one), path.join(directory, one), { recursive: true });
    }
    await work(directory);
  } finally {
    await rm(directory, { recursive: true });
  }
};

test('A database with records keeps them, their counts and their references when keys get the tenant', async () => {
  const { url } = await freshDatabase('empty', async () => {});
  await withMigrationsBefore(TENANT_KEYS, (directory) => migrate(url, directory));
  const pool = new pg.Pool({ connectionString: url });
  try {
    const [tenant, company] = [randomUUID(), randomUUID()];
    await pool.query('INSERT INTO tenant_crm.companies (id, tenant_id, name) VALUES ($1, $2, $3)', [
      company,
      tenant,
      'Acme',
    ]);
    const addContact = (of: string, companyId: string | null, deleted: boolean) =>
      pool.query(
        `INSERT INTO tenant_crm.contacts (id, tenant_id, first_name, company_id, deleted_at)
         VALUES (gen_random_uuid(), $1, 'Ada', $2, CASE WHEN $3 THEN now() END)`,
        [of, companyId, deleted],
      );
    for (const deleted of [false, false, true]) await addContact(tenant, company, deleted);

    expect((await migrate(url, migrations)).applied[0]).toBe(TENANT_KEYS);

    expect(await brokenTableRules(pool)).toEqual([]);
    await addContact(tenant, company, false);
    const { rows } = await pool.query(
      `SELECT table_name AS table, scope_column AS scope, scope_id AS id, sum(count)::int AS count
       FROM tenant_crm.record_counts GROUP BY 1, 2, 3 ORDER BY 1`,
    );
    expect(rows).toEqual([
      { table: 'companies', scope: '', id: tenant, count: 1 },
      { table: 'contacts', scope: '', id: tenant, count: 3 },
    ]);
    await expect(addContact(randomUUID(), company, false)).rejects.toMatchObject({
      constraint: 'contacts_company_id_fkey',
    });
    await pool.query('UPDATE tenant_crm.companies SET deleted_at = now()');
    await expect(addContact(tenant, company, false)).rejects.toMatchObject({
      constraint: 'contacts_company_id_fkey',
    });
  } finally {
    await pool.end();
  }
});

test('The history of custom fields that was recorded as one value is divided by key', async () => {
  const { url } = await freshDatabase('empty', async () => {});
  const name = '20261122141000_custom_field_changes';
  await withMigrationsBefore(name, (directory) => migrate(url, directory));
  const pool = new pg.Pool({ connectionString: url });
  try {
    const recorded = [
      {
        title: [null, 'Dr'],
        custom: [
          { tier: 'gold', size: 1 },
          { size: 1, nick: 'Ada' },
        ],
      },
      { custom: [{}, { tier: 'gold' }] },
      { title: ['Dr', null] },
    ];
    for (const [index, changes] of recorded.entries()) {
      await pool.query(
        `INSERT INTO tenant_crm.record_changes
           (tenant_id, table_name, record_id, changed_at, version, action, actor_type, changes)
         VALUES ($1, 'contacts', $1, now(), $2, 'update', 'user', $3)`,
        [randomUUID(), index, JSON.stringify(changes)],
      );
    }
    await migrate(url, migrations);
    const { rows } = await pool.query(
      'SELECT changes FROM tenant_crm.record_changes ORDER BY version',
    );
    expect(rows.map(({ changes }) => changes)).toEqual([
      { title: [null, 'Dr'], 'custom.tier': ['gold', null], 'custom.nick': [null, 'Ada'] },
      { 'custom.tier': [null, 'gold'] },
      { title: ['Dr', null] },
    ]);
  } finally {
    await pool.end();
  }
});

test('Texts with letters that an earlier release folded in another way are found', async () => {
  const { url } = await freshDatabase('empty', async () => {});
  const name = '20261128081000_folded_letters';
  await withMigrationsBefore(name, (directory) => migrate(url, directory));
  const pool = new pg.Pool({ connectionString: url });
  try {
    const tenants = [randomUUID(), randomUUID()];
    await pool.query(
      `INSERT INTO tenant_crm.contacts (id, tenant_id, first_name, last_name)
       SELECT gen_random_uuid(), tenant, name, 'Παππάς'
       FROM unnest($1::uuid[]) AS tenant, unnest(ARRAY['Γιώργος', 'Ada']) AS name, generate_series(1, 6000)`,
      [tenants],
    );
    await pool.query(
      `INSERT INTO tenant_crm.file_contents (id, tenant_id, object_id, sha256, size, reference_count, words)
       SELECT gen_random_uuid(), $1, gen_random_uuid(), 'aa', 1, 1,
         tenant_crm.word_vector(ARRAY['Σίσυφος', 'stone'])`,
      [tenants[0]],
    );

    expect((await migrate(url, migrations)).applied[0]).toBe(name);

    const { rows } = await pool.query(
      `SELECT count(*) FILTER (WHERE search_text LIKE tenant_crm.search_pattern('ΠΑΠΠΑΣ'))::int AS found,
         count(*) FILTER (WHERE sort_name <> left(tenant_crm.search_key(sort_name), 200))::int AS unfolded,
         max(version) AS version,
         (SELECT words @@ tenant_crm.word_query(ARRAY['ΣΊΣΥΦΟΣ', 'STONE']) FROM tenant_crm.file_contents) AS words
       FROM tenant_crm.contacts`,
    );
    expect(rows).toEqual([{ found: 24_000, unfolded: 0, version: 1, words: true }]);
  } finally {
    await pool.end();
  }
});

test('Records keep the first of several spellings of a tag, and count once for it', async () => {
  const { url } = await freshDatabase('empty', async () => {});
  const name = '20261128091000_tag_keys';
  await withMigrationsBefore(name, (directory) => migrate(url, directory));
  const pool = new pg.Pool({ connectionString: url });
  try {
    const tenants = [randomUUID(), randomUUID()];
    for (const tags of [['lead', 'VIP', 'vip', 'Vip'], ['vip', 'lead'], []]) {
      await pool.query(
        `INSERT INTO tenant_crm.contacts (id, tenant_id, first_name, tags)
         SELECT gen_random_uuid(), tenant, 'Ada', $2 FROM unnest($1::uuid[]) AS tenant, generate_series(1, 3000)`,
        [tenants, tags],
      );
    }

    await migrate(url, migrations);

    const { rows } = await pool.query(
      'SELECT tags, version, count(*)::int FROM tenant_crm.contacts GROUP BY tags, version ORDER BY version, tags',
    );
    expect(rows).toEqual([
      { tags: [], version: 1, count: 6000 },
      { tags: ['vip', 'lead'], version: 1, count: 6000 },
      { tags: ['lead', 'VIP'], version: 2, count: 6000 },
    ]);
    const { rows: counts } = await pool.query(
      `SELECT tag, sum(count)::int AS count FROM tenant_crm.tag_counts
       WHERE table_name = 'contacts' GROUP BY tag ORDER BY tag COLLATE "C"`,
    );
    expect(counts).toEqual([
      { tag: 'VIP', count: 6000 },
      { tag: 'lead', count: 12_000 },
      { tag: 'vip', count: 6000 },
    ]);
  } finally {
    await pool.end();
  }
});
