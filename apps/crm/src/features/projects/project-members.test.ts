import { randomUUID } from 'node:crypto';
import { until } from '@tessera/local-stack';
import { collide } from '../../testing/collisions.ts';
import { tenantForEachTest } from '../../testing/tenant.ts';

type Headers = Readonly<Record<string, string>>;

const { caller, crm, get, post, put, remove } = tenantForEachTest();
const path = '/api/crm/projects';

let made = 0;
/** The path of a new private project, with its owner. */
const owned = async (
  fields: object = {},
): Promise<{ project: string; owner: Headers; ownerId: string }> => {
  made += 1;
  const ownerId = randomUUID();
  const owner = caller({ id: ownerId });
  const draft = { name: 'Secret', key: `M${made}`, is_private: true, ...fields };
  const { body } = await post(path, draft, owner).expect(201);
  return { project: `${path}/${body.data.id}`, owner, ownerId };
};

/** A user with a role in the project. */
const joined = async (
  { project, owner }: { project: string; owner: Headers },
  role: string,
): Promise<{ id: string; headers: Headers }> => {
  const id = randomUUID();
  await post(`${project}/members`, { user_id: id, role }, owner).expect(201);
  return { id, headers: caller({ id }) };
};

test('Members have a role, and are listed, changed and removed', async () => {
  const { project, owner, ownerId } = await owned();
  const { id } = await joined({ project, owner }, 'viewer');
  const member = `${project}/members/${id}`;
  expect((await get(member, owner)).body.data).toMatchObject({ user_id: id, role: 'viewer' });
  await put(member, { role: 'member' }, owner).expect(200);
  const { body } = await get(`${project}/members?sort=role`, owner).expect(200);
  expect(body).toMatchObject({
    data: [
      { user_id: ownerId, role: 'manager' },
      { user_id: id, role: 'member' },
    ],
    meta: { total: 2 },
  });
  const again = await post(`${project}/members`, { user_id: id }, owner);
  expect([again.status, Object.keys(again.body.errors)]).toEqual([422, ['user_id']]);
  await remove(member, owner).expect(204);
  await get(member, owner).expect(404);
});

test('A member who is removed and added again is not who an earlier entity tag is about', async () => {
  const { project, owner } = await owned();
  const { id } = await joined({ project, owner }, 'member');
  const member = `${project}/members/${id}`;
  const { headers: former } = await get(member, owner).expect(200);
  await remove(member, owner).expect(204);
  await post(`${project}/members`, { user_id: id, role: 'manager' }, owner).expect(201);
  const outdated = { ...owner, 'If-Match': `${former.etag}` };
  await put(member, { role: 'viewer' }, outdated).expect(412);
  await remove(member, outdated).expect(412);
  const { headers: present } = await get(member, owner).expect(200);
  await remove(member, { ...owner, 'If-Match': `${present.etag}` }).expect(204);
});

describe('The history of a member has', () => {
  const historyOf = async ({ project, owner }: { project: string; owner: Headers }, id: string) => {
    const { body } = await get(`${project}/members/${id}/history`, owner).expect(200);
    return body.data;
  };

  test('its creation with the project, of the creator and of the owner', async () => {
    const { project, owner, ownerId } = await owned();
    const entry = {
      version: 1,
      action: 'create',
      actor_type: 'user',
      user_id: ownerId,
      changes: {},
    };
    expect(await historyOf({ project, owner }, ownerId)).toEqual([expect.objectContaining(entry)]);
    const otherId = randomUUID();
    const given = await owned({ owner_id: otherId });
    const created = expect.objectContaining({ ...entry, user_id: given.ownerId });
    for (const id of [given.ownerId, otherId]) {
      expect(await historyOf(given, id)).toEqual([created]);
    }
  });

  test('the role of a viewer who becomes the owner, and nothing if they are a manager already', async () => {
    const { project, owner, ownerId } = await owned();
    const { id } = await joined({ project, owner }, 'viewer');
    await put(project, { owner_id: id }, owner).expect(200);
    await put(project, { owner_id: ownerId }, owner).expect(200);
    await put(project, { owner_id: id }, owner).expect(200);
    expect(await historyOf({ project, owner }, id)).toMatchObject([
      {
        version: 2,
        action: 'update',
        user_id: ownerId,
        changes: { role: { from: 'viewer', to: 'manager' } },
      },
      { version: 1, action: 'create', user_id: ownerId, changes: {} },
    ]);
    expect(await historyOf({ project, owner }, ownerId)).toHaveLength(1);
  });

  test('its removal, with what it was, for those who may change the members', async () => {
    const { project, owner, ownerId } = await owned();
    const { id } = await joined({ project, owner }, 'viewer');
    const member = `${project}/members/${id}`;
    await remove(member, owner).expect(204);
    const [removal, creation] = await historyOf({ project, owner }, id);
    expect(removal).toMatchObject({
      action: 'delete',
      version: 2,
      user_id: ownerId,
      changes: {
        user_id: { from: id, to: null },
        role: { from: 'viewer', to: null },
        project_id: { from: project.split('/').at(-1), to: null },
      },
    });
    expect(creation).toMatchObject({ action: 'create', version: 1 });
    const { id: viewerId } = await joined({ project, owner }, 'viewer');
    const viewer = caller({ id: viewerId, lacking: ['projects.update'] });
    await get(`${project}/members/${viewerId}/history`, viewer).expect(200);
    await get(`${member}/history`, viewer).expect(404);
    await get(`${member}/history`, caller()).expect(404);
    const other = await owned();
    await get(`${other.project}/members/${id}/history`, other.owner).expect(404);
    await get(`${project}/members/${randomUUID()}/history`, owner).expect(404);
    await post(`${project}/members`, { user_id: id }, owner).expect(201);
    expect(await historyOf({ project, owner }, id)).toEqual([
      expect.objectContaining({ action: 'create', changes: {} }),
    ]);
  });

  test('its creation by whoever makes a project private', async () => {
    const { project } = await owned({ is_private: false });
    const id = randomUUID();
    const headers = caller({ id });
    await put(project, { is_private: true }, headers).expect(200);
    expect(await historyOf({ project, owner: headers }, id)).toMatchObject([
      { version: 1, action: 'create', user_id: id },
    ]);
  });
});

test('The events of a project that gets a new owner include those of its members', async () => {
  const { body: endpoint } = await post('/api/crm/webhook-endpoints', {
    url: 'https://example.com/hook',
    event_types: ['crm.projects.members.created', 'crm.projects.members.updated'],
  }).expect(201);
  const { project, owner } = await owned({ is_private: false });
  const { id } = await joined({ project, owner }, 'viewer');
  await put(project, { owner_id: id }, owner).expect(200);
  const types = async (): Promise<string[]> => {
    const path = `/api/crm/webhook-deliveries?endpoint_id=${endpoint.data.id}`;
    const { body } = await get(path).expect(200);
    return body.data.map(({ event_type }: { event_type: string }) => event_type).sort();
  };
  await until(async () => (await types()).length === 3);
  expect(await types()).toEqual([
    'crm.projects.members.created',
    'crm.projects.members.created',
    'crm.projects.members.updated',
  ]);
});

test('Members are exported in the order of the list, to those who see the project', async () => {
  const { project, owner, ownerId } = await owned();
  const { id } = await joined({ project, owner }, 'viewer');
  const { body } = await get(`${project}/members/export?format=json&sort=-role`, owner).expect(200);
  expect(body.data.map((one: { user_id: string }) => one.user_id)).toEqual([id, ownerId]);
  const { text } = await get(`${project}/members/export?role=viewer`, owner).expect(200);
  const [header, ...rows] = text.trimEnd().split('\r\n');
  expect(header).toBe('user_id,role,created_at,updated_at');
  expect(rows).toEqual([expect.stringContaining(`${id},viewer,`)]);
  await get(`${project}/members/export`).expect(404);
});

describe('The role in a private project', () => {
  const refused = { error: 'project_role_required' };

  test('viewer reads', async () => {
    const secret = await owned();
    const { headers, id } = await joined(secret, 'viewer');
    const { project } = secret;
    await get(project, headers).expect(200);
    for (const request of [
      put(project, { name: 'X' }, headers),
      remove(project, headers),
      post(`${project}/members`, { user_id: randomUUID() }, headers),
      put(`${project}/members/${id}`, { role: 'manager' }, headers),
    ]) {
      expect((await request.expect(403)).body).toMatchObject(refused);
    }
  });

  test('member may change the project, but neither its members, its owner nor its privacy', async () => {
    const secret = await owned();
    const { headers, id } = await joined(secret, 'member');
    const { project, ownerId } = secret;
    await put(project, { name: 'Y' }, headers).expect(200);
    // A form sends all fields, also those that stay as they are.
    await put(project, { name: 'Z', owner_id: ownerId, is_private: true }, headers).expect(200);
    for (const request of [
      put(project, { is_private: false }, headers),
      put(project, { owner_id: id }, headers),
      remove(`${project}/members/${ownerId}`, headers),
      remove(project, headers),
    ]) {
      expect((await request.expect(403)).body).toMatchObject(refused);
    }
  });

  test('manager does everything', async () => {
    const secret = await owned();
    const { headers } = await joined(secret, 'manager');
    const { project } = secret;
    await joined({ project, owner: headers }, 'viewer');
    await remove(project, headers).expect(204);
    await post(`${project}/restore`, {}, headers).expect(200);
    await put(project, { is_private: false }, headers).expect(200);
  });

  test('has no effect in a public project, where permissions decide', async () => {
    const open = await owned({ is_private: false });
    const { headers } = await joined(open, 'viewer');
    await put(open.project, { name: 'X' }, headers).expect(200);
    await put(open.project, { name: 'Y' }, caller()).expect(200);
  });
});

describe('A project keeps a manager', () => {
  test('the owner, who is neither removed nor given another role', async () => {
    const { project, owner, ownerId } = await owned({ is_private: false });
    const membership = `${project}/members/${ownerId}`;
    await put(membership, { role: 'viewer' }, owner).expect(409);
    await remove(membership, owner).expect(409);
    const { id, headers } = await joined({ project, owner }, 'viewer');
    await put(project, { owner_id: id }, owner).expect(200);
    expect((await get(`${project}/members/${id}`, headers)).body.data.role).toBe('manager');
    await remove(membership, owner).expect(204);
  });

  test('the last manager of a private project, which would lock everyone out', async () => {
    const { project, owner, ownerId } = await owned();
    await put(project, { owner_id: null }, owner).expect(200);
    const membership = `${project}/members/${ownerId}`;
    await put(membership, { role: 'member' }, owner).expect(409);
    await remove(membership, owner).expect(409);
    await joined({ project, owner }, 'manager');
    await remove(membership, owner).expect(204);
    await get(project, owner).expect(404);
  });

  test('also if both managers leave at the same time', async () => {
    const { project, owner, ownerId } = await owned();
    await put(project, { owner_id: null }, owner).expect(200);
    const other = await joined({ project, owner }, 'manager');
    const left = await Promise.all([
      remove(`${project}/members/${ownerId}`, owner),
      remove(`${project}/members/${other.id}`, other.headers),
    ]);
    expect(left.map(({ status }) => status).sort()).toEqual([204, 409]);
  });

  test('whoever makes it private', async () => {
    const { project } = await owned({ is_private: false });
    const id = randomUUID();
    const headers = caller({ id });
    await put(project, { is_private: true }, headers).expect(200);
    expect((await get(`${project}/members/${id}`, headers)).body.data.role).toBe('manager');
  });
});

test('A viewer may leave a private project, and then does not see it', async () => {
  const secret = await owned();
  const { id, headers } = await joined(secret, 'viewer');
  await remove(`${secret.project}/members/${id}`, headers).expect(204);
  await get(secret.project, headers).expect(404);
});

test('Members are read with projects.view and changed with projects.update', async () => {
  const { project } = await owned({ is_private: false });
  const reader = caller({ lacking: ['projects.update', 'projects.list'] });
  await get(`${project}/members`, reader).expect(200);
  const { body } = await post(`${project}/members`, { user_id: randomUUID() }, reader).expect(403);
  expect(body.required_permission).toBe('tenant.acme.crm.projects.update');
});

describe('A new owner and a change of their membership at the same moment wait for each other:', () => {
  test.each([
    ['a role', 200],
    ['a removal', 409],
  ])('%s', async (what, status) => {
    const { project, owner } = await owned();
    const { id } = await joined({ project, owner }, 'viewer');
    const member = `${project}/members/${id}`;
    const answers = await collide<{ status: number }>(
      crm().context.pool,
      // The change of the owner has locked the project when it adds to the history.
      { text: 'LOCK TABLE tenant_crm.record_changes IN SHARE MODE' },
      [
        () => put(project, { owner_id: id }, owner),
        () => (what === 'a role' ? put(member, { role: 'manager' }, owner) : remove(member, owner)),
      ],
    );
    expect(answers.map((answer) => answer.status)).toEqual([200, status]);
    expect((await get(member, owner)).body.data.role).toBe('manager');
  });
});
