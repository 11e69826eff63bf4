import sharp from 'sharp';
import { tenantForEachTest } from '../../testing/tenant.ts';

const { caller, get, post, put, remove } = tenantForEachTest();
const api = '/api/crm';

const kinds = [
  ['kb-articles', 'kb_articles.publish'],
  ['blog-posts', 'blog.posts.publish'],
  ['pages', 'pages.publish'],
] as const;
const permissions = kinds.map(([, permission]) => permission);

/** A user who may do everything but publish. */
const member = () => caller({ lacking: [...permissions] });

const created = async (path: string, body: object): Promise<string> =>
  (await post(`${api}/${path}`, body).expect(201)).body.data.id;

const published = async (path: string, body: object): Promise<string> => {
  const id = await created(path, { title: 'News', ...body });
  await post(`${api}/${path}/${id}/publish`).expect(200);
  return id;
};

const image = (background: string): Promise<Buffer> =>
  sharp({ create: { width: 2, height: 2, channels: 3, background } })
    .png()
    .toBuffer();

const uploaded = async (fields: Readonly<Record<string, string>> = {}): Promise<string> => {
  const sent = post(`${api}/documents`, null).field(fields);
  const { body } = await sent.attach('file', await image('red'), 'cover.png').expect(201);
  return body.data.id;
};

const newVersion = async (id: string, headers: Readonly<Record<string, string>>) =>
  post(`${api}/documents/${id}/versions`, null, headers).attach(
    'file',
    await image('blue'),
    'cover.png',
  );

const denied = (permission: string, resource: object) => ({
  error: 'permission_denied',
  required_permission: expect.stringMatching(new RegExp(`${permission.replaceAll('.', '\\.')}$`)),
  ...resource,
});

test.each(kinds)('Deleting what is published in %s requires %s', async (path, permission) => {
  const id = await published(path, {});
  const { body } = await remove(`${api}/${path}/${id}`, member()).expect(403);
  expect(body).toMatchObject(denied(permission, { resource_id: id }));
  await get(`${api}/${path}/${id}`).expect(200);
  await remove(`${api}/${path}/${id}`).expect(204);
  const restored = await post(`${api}/${path}/${id}/restore`, {}, member()).expect(200);
  expect(restored.body.data.status).toBe('draft');
  await remove(`${api}/${path}/${id}`, member()).expect(204);
});

test('Deleting a page requires the permission to publish if one below it is published', async () => {
  const parent_id = await created('pages', { title: 'About' });
  const between = await created('pages', { title: 'Team', parent_id });
  await published('pages', { parent_id: between });
  const path = `${api}/pages/${parent_id}?force=true`;
  const { body } = await remove(path, member()).expect(403);
  expect(body).toMatchObject(
    denied('pages.publish', { resource_type: 'page', resource_id: parent_id }),
  );
  await remove(path).expect(204);
});

test.each(kinds)(
  'The image of what is published in %s is changed and removed by callers with %s only',
  async (path, permission) => {
    const id = await uploaded();
    const document = `${api}/documents/${id}`;
    expect((await newVersion(id, member())).status).toBe(201);
    await published(path, { cover_document_id: id });
    const error = denied(permission, { resource_type: 'document', resource_id: id });
    const refused = await newVersion(id, member());
    expect([refused.status, refused.body]).toEqual([403, expect.objectContaining(error)]);
    const replacement = put(`${document}/content`, null, member()).set('Content-Type', 'image/png');
    expect((await replacement.send(await image('blue')).expect(403)).body).toMatchObject(error);
    const begun = post(`${document}/uploads`, null, {
      ...member(),
      'Tus-Resumable': '1.0.0',
      'Upload-Length': '6',
    });
    expect((await begun.expect(403)).body).toMatchObject(error);
    const former = await post(`${document}/versions/1/restore`, {}, member()).expect(403);
    expect(former.body).toMatchObject(error);
    expect((await remove(document, member()).expect(403)).body).toMatchObject(error);
    expect((await get(document)).body.data.current_version).toBe(2);
    // What the public does not see changes.
    await put(document, { description: 'A cover' }, member()).expect(200);
    await remove(`${document}/versions/1`, member()).expect(204);
    expect((await newVersion(id, caller())).status).toBe(201);
    await remove(document).expect(204);
    const restored = await post(`${document}/restore`, {}, member()).expect(403);
    expect(restored.body).toMatchObject(error);
    await post(`${document}/restore`).expect(200);
  },
);

test('A folder with the image of what is published is deleted and restored by callers who may publish it', async () => {
  const folder = await created('document-folders', { name: 'Images' });
  const parent_id = await created('document-folders', { name: 'Covers', parent_id: folder });
  const cover_document_id = await uploaded({ folder_id: parent_id });
  await published('blog-posts', { cover_document_id });
  const path = `${api}/document-folders/${folder}`;
  const error = denied('blog.posts.publish', {
    resource_type: 'document folder',
    resource_id: folder,
  });
  expect((await remove(`${path}?force=true`, member()).expect(403)).body).toMatchObject(error);
  await remove(`${path}?force=true`).expect(204);
  expect((await post(`${path}/restore`, {}, member()).expect(403)).body).toMatchObject(error);
  await post(`${path}/restore`).expect(200);
});

test('The image of a draft is changed by everybody who may change the document', async () => {
  const id = await uploaded();
  const post = await created('blog-posts', { title: 'News', cover_document_id: id });
  expect((await newVersion(id, member())).status).toBe(201);
  await remove(`${api}/documents/${id}`, member()).expect(204);
  await remove(`${api}/blog-posts/${post}`, member()).expect(204);
});
