import { until } from '@tessera/local-stack';
import { documentsPath, documentUploader, foldersPath } from '../../testing/documents.ts';
import { tenantForEachTest } from '../../testing/tenant.ts';

const tenant = tenantForEachTest();
const { crm, caller, get, post, put, remove } = tenant;
const upload = documentUploader(tenant);

type Headers = Readonly<Record<string, string>>;

const newUser = () => {
  const userId = crypto.randomUUID();
  return { userId, headers: caller({ id: userId }) };
};
type Person = ReturnType<typeof newUser>;

const folder = async (name: string, parent_id: string | null = null, headers: Headers = {}) =>
  (await post(foldersPath, { name, parent_id }, headers).expect(201)).body.data.id as string;

/** A folder that nobody else sees. */
const privateFolder = async ({ userId, headers }: Person): Promise<string> => {
  const id = await folder('Own', null, headers);
  const member = { user_id: userId, access: 'write' };
  await post(`${foldersPath}/${id}/members`, member, headers).expect(201);
  return id;
};

const share = (id: string, user_id: string, access: 'read' | 'write' = 'read') =>
  post(`${foldersPath}/${id}/members`, { user_id, access }).expect(201);

const names = (body: { data: { name: string }[] }) => body.data.map(({ name }) => name);

test('A name is used once in a folder, and again elsewhere or after the folder is deleted', async () => {
  const a = await folder('A');
  await folder('A', a);
  const { body } = await post(foldersPath, { name: 'A', parent_id: null }).expect(422);
  expect(body.errors.name).toEqual(['name is already used by another document folder']);
  await remove(`${foldersPath}/${await folder('B')}`).expect(204);
  await folder('B');
});

test.each(['..', '.', 'a/b', 'a\\b', '../etc', 'a\nb'])(
  'A folder cannot be called %j',
  async (name) => {
    await post(foldersPath, { name }).expect(422);
  },
);

test('The history of whoever makes a folder private has the creation of their membership', async () => {
  const ann = newUser();
  const bob = newUser();
  const id = await folder('Top');
  await post(`${foldersPath}/${id}/members`, { user_id: bob.userId }, ann.headers).expect(201);
  for (const { userId } of [ann, bob]) {
    const history = `${foldersPath}/${id}/members/${userId}/history`;
    const { body } = await get(history, ann.headers).expect(200);
    expect(body.data).toMatchObject([{ version: 1, action: 'create', user_id: ann.userId }]);
  }
});

test('A folder without members belongs to the tenant; with members only they see it and what is below', async () => {
  const ann = newUser();
  const bob = newUser();
  const top = await folder('Top');
  const below = await folder('Below', top);
  await upload({ fields: { folder_id: below } }).expect(201);
  expect(names((await get(foldersPath, ann.headers)).body)).toEqual(['Below', 'Top']);

  await share(top, ann.userId);
  expect((await get(`${foldersPath}/${top}`, ann.headers)).body.data.is_private).toBe(true);
  expect((await get(foldersPath, ann.headers)).body).toMatchObject({ meta: { total: 2 } });
  expect((await get(documentsPath, ann.headers)).body).toMatchObject({ meta: { total: 1 } });
  expect((await get(foldersPath, bob.headers)).body).toMatchObject({
    data: [],
    meta: { total: 0 },
  });
  expect((await get(documentsPath, bob.headers)).body).toMatchObject({
    data: [],
    meta: { total: 0 },
  });
  await get(`${foldersPath}/${below}`, bob.headers).expect(404);
  await get(`${foldersPath}/${below}/members`, bob.headers).expect(404);

  await share(below, bob.userId);
  expect(names((await get(foldersPath, bob.headers)).body)).toEqual(['Below']);
  expect(names((await get(foldersPath, ann.headers)).body)).toEqual(['Below', 'Top']);
});

test('Whoever makes a folder private becomes a member with write access, and readers change nothing', async () => {
  const ann = newUser();
  const top = await folder('Top');
  await share(top, ann.userId);
  const { body } = await get(`${foldersPath}/${top}/members`).expect(200);
  expect(body.data.map(({ access }: { access: string }) => access).sort()).toEqual([
    'read',
    'write',
  ]);

  const denied = { error: 'folder_access_denied' };
  const { headers } = ann;
  const inTop = { name: 'X', parent_id: top };
  expect((await post(foldersPath, inTop, headers).expect(403)).body).toMatchObject(denied);
  expect(
    (await put(`${foldersPath}/${top}`, { name: 'X' }, headers).expect(403)).body,
  ).toMatchObject(denied);
  await remove(`${foldersPath}/${top}`, headers).expect(403);
  await post(`${foldersPath}/${top}/members`, { user_id: crypto.randomUUID() }, headers).expect(
    403,
  );
  await upload({ fields: { folder_id: top }, headers }).expect(403);
  await remove(`${foldersPath}/${top}/members/${ann.userId}`, headers).expect(204);
  await get(`${foldersPath}/${top}`, headers).expect(404);
});

test('A folder with members keeps one who may write; without members it belongs to the tenant again', async () => {
  const userId = crypto.randomUUID();
  const top = await folder('Top');
  await share(top, userId);
  const { body } = await get(`${foldersPath}/${top}/members`);
  const writer = body.data.find(({ access }: { access: string }) => access === 'write').user_id;
  await remove(`${foldersPath}/${top}/members/${writer}`).expect(409);
  await put(`${foldersPath}/${top}/members/${writer}`, { access: 'read' }).expect(409);
  await remove(`${foldersPath}/${top}/members/${userId}`).expect(204);
  await remove(`${foldersPath}/${top}/members/${writer}`).expect(204);
  expect((await get(`${foldersPath}/${top}`, newUser().headers)).body.data.is_private).toBe(false);
});

test('A folder that becomes private or belongs to the tenant again has another entity tag', async () => {
  const top = `${foldersPath}/${await folder('Top')}`;
  const open = await get(top).expect(200);
  const ofOpen = { 'If-None-Match': open.headers.etag as string };
  await get(top, ofOpen).expect(304);
  const userId = crypto.randomUUID();
  await share(top.slice(foldersPath.length + 1), userId);
  const closed = await get(top, ofOpen).expect(200);
  expect(closed.body.data.is_private).toBe(true);
  const { body } = await get(`${top}/members`).expect(200);
  const [writer] = body.data.filter((member: { access: string }) => member.access === 'write');
  for (const id of [userId, writer.user_id]) await remove(`${top}/members/${id}`).expect(204);
  const ofClosed = { 'If-None-Match': closed.headers.etag as string };
  expect((await get(top, ofClosed).expect(200)).body.data.is_private).toBe(false);
});

test('A folder in a body that is unknown, deleted or of another tenant is a 403', async () => {
  const deleted = await folder('Deleted');
  await remove(`${foldersPath}/${deleted}`).expect(204);
  const others = await crm()
    .http.post(foldersPath)
    .set(crm().caller({ tenant: 'globex' }))
    .send({ name: `Other ${deleted}` });
  for (const id of [crypto.randomUUID(), deleted, others.body.data.id]) {
    for (const request of [
      post(foldersPath, { name: 'A', parent_id: id }),
      upload({ fields: { folder_id: id } }),
      post(`${documentsPath}/move`, { document_ids: [], folder_ids: [], folder_id: id }),
    ]) {
      expect((await request.expect(403)).body.error).toBe('folder_access_denied');
    }
    await get(`${foldersPath}/${id}`).expect(404);
  }
});

test('A move needs write access on both sides, and moves all or nothing', async () => {
  const ann = newUser();
  const [open, closed] = [await folder('Open'), await folder('Closed')];
  await share(closed, ann.userId, 'read');
  const inOpen = (await upload({ fields: { folder_id: open } })).body.data.id;
  const inClosed = (await upload({ fields: { folder_id: closed } })).body.data.id;
  const move = (body: object) =>
    post(`${documentsPath}/move`, { document_ids: [], folder_ids: [], ...body }, ann.headers);

  await move({ document_ids: [inOpen], folder_id: closed }).expect(403);
  await move({ document_ids: [inOpen, inClosed], folder_id: null }).expect(403);
  expect((await get(`${documentsPath}/${inOpen}`)).body.data.folder_id).toBe(open);
  await move({ folder_ids: [open], folder_id: closed }).expect(403);
  await move({ folder_ids: [closed], folder_id: open }).expect(403);
  await put(`${documentsPath}/${inClosed}`, { folder_id: open }, ann.headers).expect(403);

  await put(`${foldersPath}/${closed}/members/${ann.userId}`, { access: 'write' }).expect(200);
  const { body } = await move({
    document_ids: [inOpen],
    folder_ids: [open],
    folder_id: closed,
  }).expect(200);
  expect(body.data).toMatchObject({
    documents: [{ id: inOpen, folder_id: closed }],
    folders: [{ id: open, parent_id: closed, is_private: true }],
  });
  await get(`${foldersPath}/${open}`, newUser().headers).expect(404);
});

test('A folder is moved neither into itself nor below itself', async () => {
  const top = await folder('Top');
  const below = await folder('Below', await folder('Middle', top));
  for (const parent_id of [top, below]) {
    const { body } = await put(`${foldersPath}/${top}`, { parent_id }).expect(422);
    expect(Object.keys(body.errors)).toEqual(['parent_id']);
  }
});

test('Two folders that are moved into each other at the same moment do not both move', async () => {
  const [a, b] = [await folder('A'), await folder('B')];
  const { tenant_id: tenantId } = (
    await crm().context.pool.query(
      'SELECT tenant_id FROM tenant_crm.document_folders WHERE id = $1',
      [a],
    )
  ).rows[0];
  const client = await crm().context.pool.connect();
  try {
    await client.query('BEGIN');
    await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [
      `document folders ${tenantId}`,
    ]);
    const moves = [
      put(`${foldersPath}/${a}`, { parent_id: b }),
      put(`${foldersPath}/${b}`, { parent_id: a }),
    ];
    const statuses = Promise.all(moves.map(async (move) => (await move).status));
    // Both have passed everything before the lock.
    await until(async () => {
      const { rows } = await client.query(
        "SELECT count(*)::int AS waiting FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
      );
      return rows[0].waiting === 2;
    });
    await client.query('COMMIT');
    expect((await statuses).sort()).toEqual([200, 422]);
  } finally {
    client.release();
  }
});

test('A folder with content is deleted only with force, and restored with what was deleted with it', async () => {
  const top = await folder('Top');
  const below = await folder('Below', top);
  const document = (await upload({ fields: { folder_id: below } })).body.data.id;
  const deletedBefore = (await upload({ fields: { folder_id: top } })).body.data.id;
  await remove(`${documentsPath}/${deletedBefore}`).expect(204);
  expect((await remove(`${foldersPath}/${top}`).expect(409)).body.error).toBe('folder_not_empty');
  await remove(`${foldersPath}/${top}?force=true`).expect(204);
  for (const path of [
    `${foldersPath}/${top}`,
    `${foldersPath}/${below}`,
    `${documentsPath}/${document}`,
  ]) {
    await get(path).expect(404);
  }
  expect((await get(documentsPath)).body.meta.total).toBe(0);
  await post(`${documentsPath}/${document}/restore`).expect(409);
  await post(`${foldersPath}/${below}/restore`).expect(409);
  await post(`${foldersPath}/${top}/restore`).expect(200);
  await get(`${foldersPath}/${below}`).expect(200);
  await get(`${documentsPath}/${document}`).expect(200);
  await get(`${documentsPath}/${deletedBefore}`).expect(404);
  const { body } = await get(`${documentsPath}/${document}/history`);
  expect(body.data.map(({ action }: { action: string }) => action)).toEqual([
    'restore',
    'delete',
    'create',
  ]);
});

describe('A private folder below a folder of the tenant', () => {
  const setUp = async () => {
    const [ann, mallory] = [newUser(), newUser()];
    const top = await folder('Top');
    const below = await folder('Private', top, ann.headers);
    await post(
      `${foldersPath}/${below}/members`,
      { user_id: ann.userId, access: 'write' },
      ann.headers,
    ).expect(201);
    await upload({ fields: { folder_id: below }, headers: ann.headers }).expect(201);
    const isHidden = async () => {
      await get(`${foldersPath}/${below}`, mallory.headers).expect(404);
      expect((await get(documentsPath, mallory.headers)).body.meta.total).toBe(0);
      expect((await get(documentsPath, ann.headers)).body.meta.total).toBe(1);
    };
    return { top, mallory, ann, isHidden };
  };

  test('is not opened by making oneself a member of the folder above', async () => {
    const { top, mallory, isHidden } = await setUp();
    const member = { user_id: mallory.userId, access: 'write' };
    const { body } = await post(`${foldersPath}/${top}/members`, member, mallory.headers);
    expect(body.error).toBe('folder_access_denied');
    await isHidden();
  });

  test('is not opened by moving the folder above into a private one', async () => {
    const { top, mallory, isHidden } = await setUp();
    const own = await privateFolder(mallory);
    const { body } = await put(`${foldersPath}/${top}`, { parent_id: own }, mallory.headers);
    expect(body.error).toBe('folder_access_denied');
    await isHidden();
  });

  test('is deleted with the folder above only by those who may write to both', async () => {
    const { top, mallory, ann, isHidden } = await setUp();
    const path = `${foldersPath}/${top}?force=true`;
    expect((await remove(path, mallory.headers)).body.error).toBe('folder_access_denied');
    await isHidden();
    await remove(path, ann.headers).expect(204);
  });
});

test('A folder is deleted with its documents only with the permission to delete these', async () => {
  const top = await folder('Top');
  const lacking = caller({ lacking: ['documents.delete'] });
  const { body } = await remove(`${foldersPath}/${top}?force=true`, lacking).expect(403);
  expect(body.required_permission).toBe('tenant.acme.crm.documents.delete');
});

/** The path of a document that is called Dismissals.txt in a folder, and then moved out of it as Plan.txt. */
const renamedDocument = async (folderId: string, { headers }: Person): Promise<string> => {
  const created = await upload({ fields: { folder_id: folderId }, headers }).expect(201);
  const path = `${documentsPath}/${created.body.data.id}`;
  await put(path, { name: 'Dismissals.txt' }, headers).expect(200);
  await put(path, { name: 'Plan.txt', folder_id: null }, headers).expect(200);
  return path;
};

test('The history of a document hides what it was called in a private folder', async () => {
  const [ann, bob] = [newUser(), newUser()];
  const own = await privateFolder(ann);
  const path = await renamedDocument(own, ann);
  expect(JSON.stringify((await get(`${path}/history`, ann.headers)).body)).toContain('Dismissals');
  const { body } = await get(`${path}/history`, bob.headers).expect(200);
  expect(JSON.stringify(body)).not.toContain('Dismissals');
  expect(JSON.stringify(body)).not.toContain(own);
});

test('The history of a folder hides what it was called in a private folder', async () => {
  const [ann, bob] = [newUser(), newUser()];
  const own = await privateFolder(ann);
  const path = `${foldersPath}/${await folder('Below', own, ann.headers)}`;
  await put(path, { name: 'Dismissals' }, ann.headers).expect(200);
  await put(path, { name: 'Plans', parent_id: null }, ann.headers).expect(200);
  expect(JSON.stringify((await get(`${path}/history`, ann.headers)).body)).toContain('Dismissals');
  const { body } = await get(`${path}/history`, bob.headers).expect(200);
  expect(body).toMatchObject({ data: [{ version: 3, changes: {} }], meta: { total: 1 } });
  expect(JSON.stringify(body)).not.toContain('Dismissals');
  expect(JSON.stringify(body)).not.toContain(own);
});

test('The history of a document keeps hiding what it was in folders that are deleted for good', async () => {
  const [ann, bob] = [newUser(), newUser()];
  const own = await privateFolder(ann);
  const path = await renamedDocument(own, ann);
  await remove(`${foldersPath}/${own}`, ann.headers).expect(204);
  const { pool } = crm().context;
  await pool.query(
    "UPDATE tenant_crm.document_folders SET deleted_at = now() - interval '31 days' WHERE id = $1",
    [own],
  );
  await pool.query(
    "UPDATE crm_jobs.job SET start_after = now() WHERE name = 'document_purge' AND data->>'id' = $1",
    [own],
  );
  await until(async () => {
    const { rows } = await pool.query('SELECT FROM tenant_crm.document_folders WHERE id = $1', [
      own,
    ]);
    return rows.length === 0;
  });
  const { body } = await get(`${path}/history`, bob.headers).expect(200);
  expect(body).toMatchObject({ data: [{ version: 3, changes: {} }], meta: { total: 1 } });
  const admin = await get(`${path}/history`, caller({ is_system_admin: true })).expect(200);
  expect(JSON.stringify(admin.body)).toContain('Dismissals');
});

test('Lists show what is in a folder or in the root', async () => {
  const top = await folder('Top');
  await folder('Below', top);
  await upload({ name: 'in.txt', fields: { folder_id: top } }).expect(201);
  await upload({ name: 'root.txt' }).expect(201);
  expect(names((await get(`${foldersPath}?parent_id=${top}`)).body)).toEqual(['Below']);
  expect(names((await get(`${foldersPath}?in_root=true`)).body)).toEqual(['Top']);
  expect(names((await get(`${documentsPath}?folder_id=${top}`)).body)).toEqual(['in.txt']);
  expect(names((await get(`${documentsPath}?in_root=true`)).body)).toEqual(['root.txt']);
});

describe('A private folder keeps somebody with write access', () => {
  /** A private folder, whose creator may write, with a folder below it that has only a reader of its own. */
  const nested = async () => {
    const top = await folder('Top');
    const { userId } = newUser();
    await share(top, userId);
    const below = await folder('Below', top);
    await share(below, newUser().userId);
    return { top, below, reader: userId };
  };

  test('when it is moved away from the folder above', async () => {
    const { below } = await nested();
    const { body } = await put(`${foldersPath}/${below}`, { parent_id: null }).expect(409);
    expect(body.error).toBe('conflict');
    await post(`${documentsPath}/move`, { folder_ids: [below], folder_id: null }).expect(409);
    await share(below, newUser().userId, 'write');
    await put(`${foldersPath}/${below}`, { parent_id: null }).expect(200);
  });

  test('when the folder above loses its members', async () => {
    const { top, below, reader } = await nested();
    await remove(`${foldersPath}/${top}/members/${reader}`).expect(204);
    const { body } = await get(`${foldersPath}/${top}/members`).expect(200);
    const last = `${foldersPath}/${top}/members/${body.data[0].user_id}`;
    await remove(last).expect(409);
    // Somebody must also be able to restore a deleted folder.
    await remove(`${foldersPath}/${below}`).expect(204);
    await remove(last).expect(409);
    await post(`${foldersPath}/${below}/restore`).expect(200);
    await share(below, newUser().userId, 'write');
    await remove(last).expect(204);
  });

  test('when it is deleted and moved with the folder above, until it cannot be restored', async () => {
    const { top, below } = await nested();
    const moved = await folder('Moved', top);
    await put(`${foldersPath}/${below}`, { parent_id: moved }).expect(200);
    await remove(`${foldersPath}/${below}`).expect(204);
    await put(`${foldersPath}/${moved}`, { parent_id: null }).expect(409);
    await post(`${foldersPath}/${below}/restore`).expect(200);
    await remove(`${foldersPath}/${below}`).expect(204);
    await crm().context.pool.query(
      "UPDATE tenant_crm.document_folders SET deleted_at = now() - interval '30 days' WHERE id = $1",
      [below],
    );
    await put(`${foldersPath}/${moved}`, { parent_id: null }).expect(200);
  });
});

test('Errors of a move name the item in the body', async () => {
  const [a, b] = [await folder('A'), await folder('B')];
  await folder('A', b);
  const move = (folder_ids: string[], folder_id: string) =>
    post(`${documentsPath}/move`, { folder_ids, folder_id }).expect(422);
  const into = await move([a], a);
  expect(into.body.errors).toEqual({
    'folder_ids.0': ['folder_ids.0: parent_id must not be the folder itself or a folder below it'],
  });
  expect(Object.keys((await move([a], b)).body.errors)).toEqual(['folder_ids.0']);
});

test('A folder whose name another one has by now is not restored: 409', async () => {
  const id = await folder('A');
  await remove(`${foldersPath}/${id}`).expect(204);
  const other = await folder('A');
  const { body } = await post(`${foldersPath}/${id}/restore`).expect(409);
  expect(body).toMatchObject({ error: 'conflict', message: expect.stringContaining('Rename') });
  await put(`${foldersPath}/${other}`, { name: 'B' }).expect(200);
  await post(`${foldersPath}/${id}/restore`).expect(200);
});

test('The trash lists what can be restored, newest first, to callers who may delete and see the folder', async () => {
  const ann = newUser();
  const [top, hidden] = [await folder('Top'), await folder('Hidden')];
  const create = async (name: string, folderId?: string) =>
    (await upload({ name, ...(folderId && { fields: { folder_id: folderId } }) }).expect(201)).body
      .data.id as string;
  const first = await create('first.txt');
  const second = await create('second.txt', hidden);
  await create('inside.txt', top);
  await share(hidden, ann.userId);
  await remove(`${documentsPath}/${first}`).expect(204);
  await remove(`${documentsPath}/${second}`).expect(204);
  await remove(`${foldersPath}/${top}?force=true`).expect(204);

  const trash = async (of: string, headers?: Headers) =>
    (await get(`${of}/trash`, headers).expect(200)).body;
  const { data, meta } = await trash(documentsPath, ann.headers);
  expect([names({ data }), meta.total]).toEqual([['second.txt', 'first.txt'], 2]);
  const { deleted_at, purged_at } = data[0];
  expect(Date.parse(purged_at) - Date.parse(deleted_at)).toBe(30 * 24 * 3_600_000);
  expect(names(await trash(documentsPath, newUser().headers))).toEqual(['first.txt']);
  expect(names(await trash(foldersPath))).toEqual(['Top']);
  for (const [of, permission] of [
    [documentsPath, 'documents.delete'],
    [foldersPath, 'document_folders.delete'],
  ] as const) {
    const { body } = await get(`${of}/trash`, caller({ lacking: [permission] })).expect(403);
    expect(body.required_permission).toBe(`tenant.acme.crm.${permission}`);
  }

  await post(`${foldersPath}/${top}/restore`).expect(200);
  expect((await trash(foldersPath)).meta.total).toBe(0);
  await crm().context.pool.query(
    "UPDATE tenant_crm.documents SET deleted_at = now() - interval '30 days' WHERE id = $1",
    [first],
  );
  expect(names(await trash(documentsPath))).toEqual(['second.txt']);
});

test('A repeated upload is 404 when its folder has been hidden from the caller meanwhile', async () => {
  const [ann, bob] = [newUser(), newUser()];
  const id = await privateFolder(ann);
  const member = { user_id: bob.userId, access: 'write' };
  await post(`${foldersPath}/${id}/members`, member, ann.headers).expect(201);
  const key = { 'Idempotency-Key': crypto.randomUUID() };
  const sent = { fields: { folder_id: id }, headers: { ...bob.headers, ...key } };
  const document = (await upload(sent).expect(201)).body.data.id;
  const version = () =>
    post(`${documentsPath}/${document}/versions`, null, sent.headers).attach(
      'file',
      Buffer.from('b'),
      'b.txt',
    );
  const versionKey = { 'Idempotency-Key': crypto.randomUUID() };
  await version().set(versionKey).expect(201);
  expect((await upload(sent).expect(201)).headers['idempotent-replayed']).toBe('true');
  expect((await version().set(versionKey).expect(201)).headers['idempotent-replayed']).toBe('true');
  await remove(`${foldersPath}/${id}/members/${bob.userId}`, ann.headers).expect(204);
  await upload(sent).expect(404);
  await version().set(versionKey).expect(404);
});
