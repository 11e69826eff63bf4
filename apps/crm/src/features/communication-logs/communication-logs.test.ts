import { collide } from '../../testing/collisions.ts';
import { tenantForEachTest } from '../../testing/tenant.ts';

const { crm, tenant, caller, get, post, put, remove } = tenantForEachTest();
const path = '/api/crm/communication-logs';

const idOf = async (collection: string, body: object): Promise<string> =>
  (await post(`/api/crm/${collection}`, body).expect(201)).body.data.id;
const aContact = () => idOf('contacts', { first_name: 'Ada' });
const aCompany = () => idOf('companies', { name: 'Analytical Engines' });

describe('A communication log', () => {
  test('belongs to the user who creates it, and is dated now unless a time is given', async () => {
    const contact_id = await aContact();
    const { body } = await post(path, { kind: 'note', contact_id, body: 'Prefers mornings' });
    expect(body.data).toMatchObject({
      kind: 'note',
      direction: null,
      author_id: expect.any(String),
      author_client_id: null,
      contact_id,
      company_id: null,
    });
    expect(Math.abs(Date.parse(body.data.happened_at) - Date.now())).toBeLessThan(60_000);
    const { status, body: refused } = await post(path, {
      kind: 'note',
      contact_id,
      author_id: body.data.author_id,
    });
    expect([status, Object.keys(refused.errors)]).toEqual([422, ['author_id']]);
  });

  test('created by a client has no user as its author', async () => {
    const { identity, http } = crm();
    const pipeline = { type: 'client', id: 'pipeline', tenants: [], scopes: ['*'] } as const;
    const headers = { ...identity.signIn(pipeline).headers, 'x-tenant': 'acme' };
    const company = await http.post('/api/crm/companies').set(headers).send({ name: 'A' });
    const log = { kind: 'note', company_id: company.body.data.id };
    const { body } = await http.post(path).set(headers).send(log).expect(201);
    expect(body.data).toMatchObject({ author_id: null, author_client_id: 'pipeline' });
  });

  test('must be about a contact or a company; without either, both fields are named', async () => {
    const { status, body } = await post(path, { kind: 'note' });
    expect([status, Object.keys(body.errors)]).toEqual([422, ['contact_id', 'company_id']]);
    const [contact_id, company_id] = [await aContact(), await aCompany()];
    const { body: created } = await post(path, { kind: 'note', contact_id }).expect(201);
    const one = `${path}/${created.data.id}`;
    const emptied = await put(one, { contact_id: null }).expect(422);
    expect(Object.keys(emptied.body.errors)).toEqual(['contact_id', 'company_id']);
    const moved = await put(one, { contact_id: null, company_id }).expect(200);
    expect(moved.body.data).toMatchObject({ contact_id: null, company_id });
  });

  test('of a contact is about its company too, unless company_id is given or the company is deleted', async () => {
    const [company_id, another] = [await aCompany(), await aCompany()];
    const contact_id = await idOf('contacts', { first_name: 'Ada', company_id });
    const log = { kind: 'note', contact_id };
    const created = async (fields: object): Promise<{ company_id: string | null }> =>
      (await post(path, { ...log, ...fields }).expect(201)).body.data;
    expect((await created({})).company_id).toBe(company_id);
    expect((await created({ company_id: another })).company_id).toBe(another);
    expect((await created({ company_id: null })).company_id).toBeNull();
    await remove(`/api/crm/companies/${company_id}?force=true`).expect(204);
    expect((await created({})).company_id).toBeNull();
  });

  test('has no company that is deleted at the same time', async () => {
    const company_id = await aCompany();
    const contact_id = await idOf('contacts', { first_name: 'Ada', company_id });
    const answers = await collide<{ status: number }>(
      crm().context.pool,
      {
        text: 'SELECT id FROM tenant_crm.companies WHERE tenant_id = $1 AND id = $2 FOR UPDATE',
        values: [tenant().id, company_id],
      },
      [
        () => remove(`/api/crm/companies/${company_id}?force=true`),
        () => post(path, { kind: 'note', contact_id }),
      ],
    );
    expect(answers.map(({ status }) => status)).toEqual([204, 201]);
    expect((await get(path)).body.data).toMatchObject([{ contact_id, company_id: null }]);
  });

  test.each(['call', 'email', 'sms'])('of the kind %s has a direction', async (kind) => {
    const contact_id = await aContact();
    const { body } = await post(path, { kind, contact_id }).expect(422);
    expect(Object.keys(body.errors)).toEqual(['direction']);
    await post(path, { kind, contact_id, direction: 'outbound' }).expect(201);
  });

  test('has no direction as a note, and may have one as a meeting', async () => {
    const contact_id = await aContact();
    const note = { kind: 'note', contact_id, direction: 'inbound' };
    expect((await post(path, note).expect(422)).body.errors).toHaveProperty('direction');
    await post(path, { kind: 'meeting', contact_id }).expect(201);
    const meeting = { kind: 'meeting', contact_id, direction: 'inbound', duration_minutes: 45 };
    const { body } = await post(path, meeting).expect(201);
    const one = `${path}/${body.data.id}`;
    expect((await put(one, { kind: 'note' }).expect(422)).body.errors).toHaveProperty('direction');
    await put(one, { kind: 'note', direction: null }).expect(200);
  });

  test('is changed with the permission to update only', async () => {
    const contact_id = await aContact();
    const { body } = await post(path, { kind: 'note', contact_id }).expect(201);
    const one = `${path}/${body.data.id}`;
    const lacking = caller({ lacking: ['communication_logs.update'] });
    const { body: denied } = await put(one, { subject: 'A' }, lacking).expect(403);
    expect(denied.required_permission).toBe('tenant.acme.crm.communication_logs.update');
    await put(one, { subject: 'A' }).expect(200);
  });

  test('is deleted and restored', async () => {
    const contact_id = await aContact();
    const { body } = await post(path, { kind: 'note', contact_id, subject: 'A' }).expect(201);
    const one = `${path}/${body.data.id}`;
    await remove(one).expect(204);
    await get(one).expect(404);
    expect((await get(path)).body.meta.total).toBe(0);
    expect((await post(`${one}/restore`).expect(200)).body.data.subject).toBe('A');
  });
});

describe('The list of communication logs', () => {
  const logs = async () => {
    const [contact_id, company_id] = [await aContact(), await aCompany()];
    const create = async (day: string, fields: object): Promise<string> => {
      const happened_at = `2026-03-${day}T10:00:00.000Z`;
      const log = { kind: 'note', contact_id, happened_at, subject: day, ...fields };
      return (await post(path, log).expect(201)).body.data.author_id;
    };
    const call = { kind: 'call', direction: 'inbound' };
    await create('02', { ...call, body: 'Árvíztűrő: 50% off' });
    const author = await create('03', { company_id });
    await create('01', { ...call, direction: 'outbound', company_id });
    return { contact_id, company_id, author };
  };
  const found = async (query: string): Promise<string[]> =>
    (await get(`${path}?${query}`).expect(200)).body.data.map(
      ({ subject }: { subject: string }) => subject,
    );

  test('is sorted by the time of the event, newest first, or by other times', async () => {
    await logs();
    expect(await found('')).toEqual(['03', '02', '01']);
    expect(await found('sort=happened_at')).toEqual(['01', '02', '03']);
    expect(await found('sort=created_at')).toEqual(['02', '03', '01']);
  });

  test('is searched in subject and body, without case and diacritics', async () => {
    await logs();
    expect(await found('search=arvizturo')).toEqual(['02']);
    expect(await found('search=50%25')).toEqual(['02']);
    expect(await found('search=03')).toEqual(['03']);
    expect(await found('search=5_')).toEqual([]);
  });

  test('is filtered by kind, direction, contact, company, author and time', async () => {
    const { contact_id, company_id, author } = await logs();
    expect(await found('kind=call')).toEqual(['02', '01']);
    expect(await found('direction=outbound')).toEqual(['01']);
    expect(await found(`contact_id=${contact_id}&kind=note`)).toEqual(['03']);
    expect(await found(`company_id=${company_id}`)).toEqual(['03', '01']);
    expect(await found(`author_id=${author}`)).toEqual(['03', '02', '01']);
    expect(await found(`author_id=${contact_id}`)).toEqual([]);
    const day = 'happened_from=2026-03-02T00:00:00Z&happened_to=2026-03-02T23:59:59Z';
    expect(await found(day)).toEqual(['02']);
  });

  test('is exported with its filters by callers with the permission', async () => {
    await logs();
    const { text } = await get(`${path}/export?kind=note`).expect(200);
    expect(text.trimEnd().split('\r\n')).toHaveLength(2);
    const lacking = caller({ lacking: ['communication_logs.export'] });
    await get(`${path}/export`, lacking).expect(403);
  });
});
