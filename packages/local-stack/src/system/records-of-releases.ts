import { call, callUntil } from './requests.ts';

/** The URLs of an instance of both services. */
export interface Instance {
  readonly identity: { readonly url: string };
  readonly crm: { readonly url: string };
}

interface Account {
  readonly email: string;
  readonly password: string;
  readonly tenant_id: string;
}

interface Kind {
  readonly service: keyof Instance;
  readonly path: string;
  readonly first: Readonly<Record<string, unknown>>;
  readonly change: Readonly<Record<string, unknown>>;
}

/** The status of a successful deletion. */
const deleted = { identity: 200, crm: 204 };

const kindsOf = (tenantId: string, mark: string): Kind[] => [
  {
    service: 'crm',
    path: '/api/crm/contacts',
    first: { first_name: mark },
    change: { title: 'Engineer' },
  },
  {
    service: 'crm',
    path: '/api/crm/companies',
    first: { name: mark },
    change: { industry: 'Paper' },
  },
  {
    service: 'crm',
    path: '/api/crm/tasks',
    first: { title: mark },
    change: { description: 'Soon' },
  },
  {
    service: 'crm',
    path: '/api/crm/kb-articles',
    first: { title: mark },
    change: { summary: 'Short' },
  },
  {
    service: 'identity',
    path: `/api/tenants/${tenantId}/roles`,
    first: { name: mark },
    change: { description: 'Reads' },
  },
];

const expectStatus = async (
  status: number,
  method: string,
  url: string,
  token: string | undefined,
  body?: unknown,
): Promise<unknown> => {
  const answer = await call(method, url, { token, body });
  if (answer.status === status) return (answer.body as { data?: unknown }).data;
  throw new Error(`${method} ${url} returned ${answer.status}, not ${status}: ${answer.text}`);
};

/**
 * Signs in at the first instance, and creates, finds, changes and deletes records of several kinds, each step at the
 * other instance than the one before; then signs out at the second. Both instances use the same databases. Throws if
 * one does not understand what the other has written.
 */
export const recordsLive = async (
  first: Instance,
  second: Instance,
  { email, password, tenant_id: tenantId }: Account,
): Promise<void> => {
  const login = `${first.identity.url}/api/auth/login`;
  const { token } = (await expectStatus(200, 'POST', login, undefined, { email, password })) as {
    token: string;
  };
  const mark = `release${Date.now().toString(36)}`;
  for (const { service, path, first: input, change } of kindsOf(tenantId, mark)) {
    // The roles of a tenant are few, and cannot be searched.
    const search = service === 'crm' ? `?search=${mark}` : '';
    const at = (instance: Instance, rest = '') => `${instance[service].url}${path}${rest}`;
    const { id } = (await expectStatus(201, 'POST', at(first), token, input)) as { id: string };
    const found = await expectStatus(200, 'GET', at(second, search), token);
    expect(found).toEqual(expect.arrayContaining([expect.objectContaining({ id, ...input })]));
    await expectStatus(200, 'PUT', at(second, `/${id}`), token, change);
    const read = await expectStatus(200, 'GET', at(first, `/${id}`), token);
    expect(read).toMatchObject({ id, ...input, ...change });
    await expectStatus(deleted[service], 'DELETE', at(first, `/${id}`), token);
    await expectStatus(404, 'GET', at(second, `/${id}`), token);
  }
  await expectStatus(200, 'POST', `${second.identity.url}/api/auth/logout`, token);
  await expectStatus(401, 'GET', `${first.identity.url}/api/me`, token);
  const contacts = `${first.crm.url}/api/crm/contacts`;
  await callUntil(
    () => call('GET', contacts, { token }),
    ({ status }) => status === 401,
  );
};
