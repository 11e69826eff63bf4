import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readTables } from '@tessera/database-kit';
import type { FileStore } from '@tessera/file-store';
import { until } from '@tessera/local-stack';
import { newTenant, STAND_IN_CLIENT } from '@tessera/resource-server/testing';
import pg from 'pg';
import { openFileStore } from '../../files/store.ts';
import { runAdmin, startAdmin } from '../../testing/admin.ts';
import { startCrm, type TestCrm } from '../../testing/crm.ts';
import { documentUploader } from '../../testing/documents.ts';
import { isWaitedFor } from '../../testing/lock-waits.ts';
import { fillEveryTable, tablesWith } from '../../testing/whole-database.ts';
import { exportTenant } from './export-tenant.ts';
import { leftOutColumns, leftOutTables } from './left-out.ts';
import { exportPlan } from './table-export.ts';

const KEYS = `test:${Buffer.alloc(32, 7).toString('base64')}`;

let crm: TestCrm;
let folder: string;
let environment: Record<string, string>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tessera-tenant-data-'));
  environment = {
    KEY_ENCRYPTION_KEYS: KEYS,
    FILE_STORE_PATH: join(folder, 'store'),
    IDENTITY_CLIENT_ID: STAND_IN_CLIENT.id,
    IDENTITY_CLIENT_SECRET: STAND_IN_CLIENT.secret,
  };
  crm = await startCrm(environment);
});
afterAll(async () => {
  await crm.stop();
  await rm(folder, { recursive: true });
});

const admin = (...args: string[]) => runAdmin(crm, args, environment);
const pool = () => crm.context.pool;

const filesIn = async (path: string): Promise<string[]> => {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
};
const rowsOf = async (path: string, table: string): Promise<Record<string, unknown>[]> => {
  const text = await readFile(join(path, 'tables', `${table}.jsonl`), 'utf8');
  return text.split('\n').flatMap((line) => (line ? [JSON.parse(line)] : []));
};

/** A tenant with a contact, a document of two versions, and everything that has a secret. */
const tenantWithSecrets = async (name: 'acme' | 'globex') => {
  const tenant = newTenant(name);
  const caller = crm.caller({ tenants: [tenant] });
  const post = (path: string, body: object | null = {}, headers = {}) => {
    const request = crm.http.post(path).set({ ...caller, ...headers });
    return body === null ? request : request.send(body);
  };
  const create = async (path: string, body: object) =>
    (await post(`/api/crm${path}`, body).expect(201)).body.data;
  const upload = documentUploader({ post });
  const { body: uploaded } = await upload({ content: `Notes of ${name}` }).expect(201);
  const document = uploaded.data.id as string;
  const contact = await create('/contacts', { first_name: 'Ada', email: `ada@${name}.test` });
  await crm.http
    .put(`/api/crm/contacts/${contact.id}`)
    .set(caller)
    .send({ last_name: 'Lovelace' })
    .expect(200);
  const bot = await create('/bots', { name: 'Builds' });
  const link = await create(`/documents/${document}/links`, {});
  const endpoint = await create('/webhook-endpoints', {
    url: 'https://example.com/hook',
    event_types: ['crm.contacts.*'],
  });
  const account = { name: 'Alerts', provider: 'twilio', sender: 'Acme' };
  await crm.http
    .post('/api/crm/system/sms/accounts')
    .set({ ...crm.system(), 'x-tenant-id': tenant.id })
    .send({ ...account, credentials: { token: `account-secret-${name}` } })
    .expect(201);
  const secrets = [bot.token, link.token, endpoint.secret, `account-secret-${name}`] as string[];
  return { id: tenant.id, document, contactId: contact.id as string, secrets, upload };
};

test('A tenant is exported with its files and without secrets, by the command', async () => {
  const [acme, globex] = [await tenantWithSecrets('acme'), await tenantWithSecrets('globex')];
  await fillEveryTable(pool(), acme.id, 'filled');
  // This content has no object.
  await pool().query("DELETE FROM tenant_crm.document_versions WHERE sha256 LIKE 'filled%'");
  await pool().query('UPDATE tenant_crm.messages SET file_content_id = NULL WHERE tenant_id = $1', [
    acme.id,
  ]);
  await pool().query(
    "DELETE FROM tenant_crm.file_contents WHERE sha256 LIKE 'filled%' AND thumbnail_id IS NOT NULL",
  );
  await pool().query("DELETE FROM tenant_crm.file_contents WHERE sha256 LIKE 'filled%'");
  const target = join(folder, 'acme');
  expect(await admin('export-tenant', acme.id, target)).toEqual({
    code: 0,
    output: {
      tenant_id: acme.id,
      folder: target,
      rows: expect.any(Number),
      files: 1,
      infected_files: 0,
    },
  });

  const manifest = JSON.parse(await readFile(join(target, 'manifest.json'), 'utf8'));
  expect(manifest).toMatchObject({
    format: 'tessera-crm-tenant',
    format_version: 1,
    tenant_id: acme.id,
    files: { count: 1, bytes: 'Notes of acme'.length, missing: { count: 0 } },
  });
  const plan = exportPlan(await readTables(pool(), 'tenant_crm'));
  for (const [table, { exported }] of plan) {
    if (leftOutTables[table]) continue;
    const rows = await rowsOf(target, table);
    expect([table, rows.length]).toEqual([table, manifest.tables[table].rows]);
    expect([table, rows.length > 0]).toEqual([table, true]);
    for (const row of rows) {
      expect([table, Object.keys(row)]).toEqual([table, exported]);
      expect(row.tenant_id).toBe(acme.id);
    }
  }
  expect(await rowsOf(target, 'contacts')).toContainEqual(
    expect.objectContaining({ id: acme.contactId, last_name: 'Lovelace', email: 'ada@acme.test' }),
  );
  const document = (await rowsOf(target, 'documents')).find(({ id }) => id === acme.document);
  const content = await readFile(join(target, 'files', String(document?.content_id)), 'utf8');
  expect(content).toBe('Notes of acme');

  const { rows: hashes } = await pool().query(
    `SELECT token_hash AS hash FROM tenant_crm.bots UNION ALL SELECT token_hash FROM tenant_crm.document_links`,
  );
  for (const file of await filesIn(target)) {
    const text = await readFile(file, 'utf8');
    const found = [...acme.secrets, globex.id, ...hashes.map(({ hash }) => hash)].filter((secret) =>
      text.includes(secret),
    );
    expect([file, found]).toEqual([file, []]);
    expect((await stat(file)).mode & 0o077).toBe(0);
  }
  expect(await admin('export-tenant', acme.id, target)).toEqual({
    code: 1,
    output: { error: `The folder ${target} is not empty.` },
  });
});

test('An export shows one moment, whatever is written meanwhile', async () => {
  const { id } = await tenantWithSecrets('acme');
  const target = join(folder, 'snapshot');
  const blocker = new pg.Client({ connectionString: crm.context.config.database.url });
  await blocker.connect();
  try {
    await blocker.query('BEGIN');
    await blocker.query('LOCK TABLE tenant_crm.webhook_endpoints');
    const { files, database } = crm.context.config;
    const exporting = exportTenant({
      directUrl: database.directUrl,
      store: openFileStore(files, crm.context.vault),
      tenantId: id,
      folder: target,
    });
    await until(() => isWaitedFor(pool(), blocker, 'crm-admin'));
    await blocker.query(
      `UPDATE tenant_crm.webhook_endpoints SET url = 'https://later.test' WHERE tenant_id = $1`,
      [id],
    );
    await blocker.query('COMMIT');
    await exporting;
  } finally {
    await blocker.end();
  }
  const [endpoint] = await rowsOf(target, 'webhook_endpoints');
  expect(endpoint?.url).toBe('https://example.com/hook');
});

test('A file that the store has lost is reported', async () => {
  const { id } = await tenantWithSecrets('acme');
  const target = join(folder, 'lost');
  await rm(join(environment.FILE_STORE_PATH as string, id), { recursive: true });
  expect(await admin('export-tenant', id, target)).toEqual({
    code: 1,
    output: { error: expect.stringContaining('1 files are missing or damaged') },
  });
  const manifest = JSON.parse(await readFile(join(target, 'manifest.json'), 'utf8'));
  expect(manifest.files.missing).toEqual({ count: 1, content_ids: [expect.any(String)] });
});

test('A file that does not decrypt is reported, and the others are exported', async () => {
  const { id, upload } = await tenantWithSecrets('acme');
  const target = join(folder, 'changed');
  await upload({ content: 'intact' }).expect(201);
  const { rows } = await pool().query(
    'SELECT id, object_id FROM tenant_crm.file_contents WHERE tenant_id = $1 ORDER BY created_at',
    [id],
  );
  const [changed] = rows;
  const [path = ''] = (await filesIn(join(environment.FILE_STORE_PATH as string, id))).filter(
    (file) => file.endsWith(changed.object_id),
  );
  const bytes = await readFile(path);
  bytes.writeUInt8(bytes.readUInt8(3) ^ 1, 3);
  await writeFile(path, bytes);
  expect(await admin('export-tenant', id, target)).toEqual({
    code: 1,
    output: { error: expect.stringContaining('1 files are missing or damaged') },
  });
  const manifest = JSON.parse(await readFile(join(target, 'manifest.json'), 'utf8'));
  expect(manifest.files).toMatchObject({
    count: 1,
    missing: { count: 0 },
    damaged: { count: 1, content_ids: [changed.id] },
  });
});

test('A file that is deleted or gets another object during the export is not missing', async () => {
  const { id, upload } = await tenantWithSecrets('acme');
  const target = join(folder, 'meanwhile');
  await upload({ content: 'replaced' }).expect(201);
  const { rows } = await pool().query(
    'SELECT id, object_id, size::int FROM tenant_crm.file_contents WHERE tenant_id = $1',
    [id],
  );
  const deleted = rows.find(({ size }) => size !== 'replaced'.length);
  const replaced = rows.find(({ size }) => size === 'replaced'.length);
  const { files, database } = crm.context.config;
  const store = openFileStore(files, crm.context.vault);
  let isFirst = true;
  const change = async () => {
    isFirst = false;
    for (const object of [deleted, replaced]) {
      await store.delete({ tenantId: id, id: object.object_id });
    }
    await pool().query('DELETE FROM tenant_crm.document_versions WHERE content_id = $1', [
      deleted.id,
    ]);
    await pool().query('DELETE FROM tenant_crm.file_contents WHERE id = $1', [deleted.id]);
    await upload({ content: 'replaced' }).expect(201);
  };
  const changing: FileStore = {
    ...store,
    get: async (...given) => {
      if (isFirst) await change();
      return store.get(...given);
    },
  };
  const { directUrl } = database;
  await exportTenant({ directUrl, store: changing, tenantId: id, folder: target });
  const manifest = JSON.parse(await readFile(join(target, 'manifest.json'), 'utf8'));
  expect(manifest.files).toMatchObject({
    count: 1,
    missing: { count: 0 },
    deleted: { count: 1, content_ids: [deleted.id] },
  });
  expect(await readFile(join(target, 'files', replaced.id), 'utf8')).toBe('replaced');
});

describe('The export of a tenant contains or names every column', () => {
  test('and names none that does not exist', async () => {
    const tables = await readTables(pool(), 'tenant_crm');
    const plan = exportPlan(tables);
    for (const { name, columns } of tables) {
      const { exported = [], leftOut = {} } = plan.get(name) ?? {};
      expect([...exported, ...Object.keys(leftOut)].sort()).toEqual(
        columns.map((column) => column.name).sort(),
      );
      for (const reason of Object.values(leftOut)) expect(reason).toMatch(/\.$/);
    }
    const names = tables.map(({ name }) => name);
    expect(Object.keys(leftOutTables).filter((name) => !names.includes(name))).toEqual([]);
    const columns = tables.flatMap((table) =>
      table.columns.flatMap(({ name }) => [`${table.name}.${name}`, `*.${name}`]),
    );
    expect(Object.keys(leftOutColumns).filter((name) => !columns.includes(name))).toEqual([]);
  });

  test('so a new table is exported, and fails if a column may be a secret', async () => {
    const planted = async (column: string) => {
      await pool().query(
        `CREATE TABLE tenant_crm.planted (tenant_id uuid, id uuid, ${column}, PRIMARY KEY (tenant_id, id))`,
      );
      try {
        return exportPlan(await readTables(pool(), 'tenant_crm')).get('planted')?.exported;
      } finally {
        await pool().query('DROP TABLE tenant_crm.planted');
      }
    };
    expect(await planted('name text')).toEqual(['tenant_id', 'id', 'name']);
    for (const column of ['api_secret text', 'content bytea', 'refresh_token_hash text']) {
      await expect(planted(column)).rejects.toThrow(
        `planted.${column.split(' ')[0]} may be a secret`,
      );
    }
  });
});

describe('Deleting a tenant', () => {
  test('is refused while it is active, without confirmation, and for an id that is none', async () => {
    const { id } = crm.identity.acme;
    expect(await admin('delete-tenant', id, '--yes')).toEqual({
      code: 1,
      output: { error: 'The tenant acme is active. Suspend or delete it in identity first.' },
    });
    expect(await admin('delete-tenant', id)).toMatchObject({ code: 2 });
    expect(await admin('delete-tenant', '%', '--yes')).toMatchObject({ code: 2 });
  });

  test('is refused with a store that does not exist or has none of its files', async () => {
    const { id } = await tenantWithSecrets('acme');
    const other = join(folder, 'other-store');
    const refused = async (...options: string[]) =>
      runAdmin(crm, ['delete-tenant', id, '--yes', '--unchecked', ...options], {
        ...environment,
        FILE_STORE_PATH: other,
      });
    // Events leave the outbox meanwhile.
    const kept = async () =>
      (await tablesWith(pool(), id)).filter((table) => table !== 'tenant_crm.outbox');
    const rows = await kept();
    expect(await refused()).toEqual({
      code: 1,
      output: {
        error: `The file store that FILE_STORE_PATH names cannot be used: ${other} is not the folder of a file store.`,
      },
    });
    await openFileStore({ path: other, s3: undefined }, undefined).prepare();
    expect(await refused()).toEqual({
      code: 1,
      output: { error: expect.stringContaining('the store has none of them') },
    });
    expect(await kept()).toEqual(rows);
    expect(await refused('--files-lost')).toMatchObject({ code: 0, output: { files: 0 } });
    expect(await tablesWith(pool(), id)).toEqual([]);
  });

  test('leaves nothing of it, and everything of another one; a killed command continues', async () => {
    const [gone, kept] = [await tenantWithSecrets('acme'), await tenantWithSecrets('globex')];
    await fillEveryTable(pool(), gone.id, 'filled');
    await fillEveryTable(pool(), kept.id, 'filled');
    await pool().query(
      `INSERT INTO tenant_crm.contacts (tenant_id, id, first_name)
       SELECT $1, lpad(n::text, 32, '0')::uuid, 'Bulk ' || n FROM generate_series(1, 3000) AS n`,
      [gone.id],
    );
    const state = async (tenantId: string) => {
      const tables = await readTables(pool(), 'tenant_crm');
      const { rows } = await pool().query(
        tables
          .map(
            ({
              name,
            }) => `SELECT '${name}' AS name, count(*)::int, md5(string_agg(t::text, '' ORDER BY t::text)) AS hash
             FROM tenant_crm.${name} AS t WHERE tenant_id = $1`,
          )
          .join(' UNION ALL '),
        [tenantId],
      );
      return rows as { name: string; count: number; hash: string | null }[];
    };
    // The service reads the words of new files in the background.
    await until(async () => {
      const { rows } = await pool().query(
        'SELECT FROM tenant_crm.file_contents WHERE tenant_id = ANY ($1) AND words IS NULL',
        [[gone.id, kept.id]],
      );
      return rows.length === 0;
    });
    const before = await state(kept.id);
    expect(before.filter(({ count }) => count === 0)).toEqual([]);
    /** How many statements that delete rows of a tenant are in this state. */
    const deletions = async (condition: string) => {
      const { rows } = await pool().query(
        `SELECT FROM pg_stat_activity
         WHERE query LIKE 'DELETE FROM tenant_crm%' AND datname = current_database() AND ${condition}`,
      );
      return rows.length;
    };
    const contacts = async () =>
      (await state(gone.id)).find(({ name }) => name === 'contacts')?.count ?? 0;
    const total = await contacts();

    const blocker = new pg.Client({ connectionString: crm.context.config.database.url });
    await blocker.connect();
    try {
      await blocker.query('BEGIN');
      // In the second batch, which the server still completes; nobody begins the third one.
      await blocker.query(
        "SELECT FROM tenant_crm.contacts WHERE tenant_id = $1 AND first_name = 'Bulk 1500' FOR UPDATE",
        [gone.id],
      );
      crm.identity.suspend(gone.id);
      const child = startAdmin(crm, ['delete-tenant', gone.id, '--yes'], environment);
      let printed = '';
      for (const stream of [child.stdout, child.stderr]) {
        stream.on('data', (piece) => {
          printed += piece;
        });
      }
      await until(async () => {
        expect(printed).toBe('');
        return (await deletions("wait_event_type = 'Lock'")) === 1;
      });
      child.kill('SIGKILL');
      await once(child, 'exit');
      await blocker.query('ROLLBACK');
    } finally {
      await blocker.end();
    }
    await until(async () => (await deletions("state = 'active'")) === 0);
    expect(await contacts()).toBeGreaterThan(0);
    expect(await contacts()).toBeLessThan(total);

    const again = await admin('delete-tenant', gone.id, '--yes');
    expect(again).toMatchObject({ code: 0, output: { tenant_id: gone.id, files: 1 } });
    expect(await tablesWith(pool(), gone.id)).toEqual([]);
    const store = openFileStore(crm.context.config.files, undefined);
    const { objects } = await store.list({ limit: 100 });
    expect(objects.filter(({ tenantId }) => tenantId === gone.id)).toEqual([]);
    expect(objects.filter(({ tenantId }) => tenantId === kept.id)).toHaveLength(1);
    expect(await state(kept.id)).toEqual(before);
    expect(await admin('delete-tenant', gone.id, '--yes')).toMatchObject({
      code: 0,
      output: { rows: 0, files: 0 },
    });
  });
});
