import {
  accountChange,
  type Channel,
  EmailAccount,
  EmailAccountInput,
  type IdentityPermission,
  SmsAccount,
  SmsAccountInput,
} from '@tessera/contracts';
import { type Field, list, openShape, partial, type Shape, shape, uuid } from '@tessera/fields';
import { empty, type RouteTable } from '@tessera/http-kit';
import { activeTenant } from '../../access/access.ts';
import {
  type Crm,
  type CrmAnswer,
  crmFailed,
  crmNotConfigured,
  preconditionFailed,
} from '../../crm/crm.ts';
import { type Caller, done, PageMeta, page, pageFields, route, success } from '../../http/route.ts';

interface Kind {
  readonly channel: Channel;
  /** In operation ids: `createEmailAccount`. */
  readonly label: string;
  readonly name: string;
  readonly permissions: 'identity.email_accounts' | 'identity.sms_accounts';
  readonly input: Shape;
  readonly answer: Field;
}

const kinds: readonly Kind[] = [
  {
    channel: 'email',
    label: 'Email',
    name: 'email account',
    permissions: 'identity.email_accounts',
    input: EmailAccountInput,
    answer: EmailAccount,
  },
  {
    channel: 'sms',
    label: 'Sms',
    name: 'SMS account',
    permissions: 'identity.sms_accounts',
    input: SmsAccountInput,
    answer: SmsAccount,
  },
];

/** Where a tenant's accounts are: below the tenant, or for the tenant of the token. */
interface Place {
  readonly prefix: '/api' | '/api/tenants/{tenantId}';
  /** In operation ids: `createTenantEmailAccount`. */
  readonly label: '' | 'Tenant';
  readonly params: Shape;
  /** The tenant that a request is about; throws where there is none. */
  tenant(caller: Caller, params: Readonly<Record<string, unknown>>): Promise<string>;
}

const ListQuery = shape(pageFields);

const problems = {
  502: {
    description: '`crm_failed`: CRM answered with something that cannot be used',
    refusal: () => crmFailed(undefined),
  },
  503: {
    description: '`crm_not_configured` or `crm_unavailable`',
    refusal: crmNotConfigured,
  },
} as const;

const changeProblems = {
  ...problems,
  412: {
    description: 'It is in none of the versions that `If-Match` names',
    refusal: preconditionFailed,
  },
} as const;

const tagged = ({ etag }: CrmAnswer<unknown>): Record<string, string> =>
  etag === undefined ? {} : { ETag: etag };

/**
 * The proxies to CRM's system routes (decision I13). What is forwarded is what stands here and nothing
 * else: the address is made from checked ids, the body is the one that was checked, `If-Match` is the
 * only header of the caller that goes along, and the answer is held against its shape.
 */
const proxies = (crm: Crm, place: Place, kind: Kind): RouteTable => {
  const { channel, name, permissions, input, answer } = kind;
  const label = place.label + kind.label;
  const path = `${place.prefix}/${channel}/accounts`;
  const params = place.params;
  const oneParams = shape({ ...params.fields, accountId: uuid() }) as Shape;
  const system = `/${channel}/accounts`;
  const One = openShape({ data: answer });
  const Page = openShape({ data: list(answer), meta: PageMeta });
  const permission = (verb: string) => `${permissions}.${verb}` as IdentityPermission;
  const all = { path, params, resource: name, problems } as const;
  const one = { ...all, path: `${path}/{accountId}` as string, params: oneParams } as const;
  const systemOne = (given: Readonly<Record<string, unknown>>) => `${system}/${given.accountId}`;
  const shown = ({ body }: CrmAnswer<{ data: unknown }>) =>
    ({ success: true, data: body.data }) as const;
  return {
    [`list${label}Accounts`]: route({
      ...all,
      method: 'get',
      permission: permission('list'),
      summary: `List ${name}s`,
      query: ListQuery,
      responses: { 200: page(answer) },
      async handler({ caller, params, query, reply }) {
        const tenantId = await place.tenant(caller, params);
        const asked = `${system}?page=${query.page}&per_page=${query.per_page}`;
        const { body } = await crm.ask({ tenantId, method: 'GET', path: asked }, Page);
        const { data, meta } = body;
        return reply(200, { success: true, data, meta });
      },
    }),
    [`create${label}Account`]: route({
      ...all,
      method: 'post',
      permission: permission('create'),
      summary: `Create an ${name}`,
      body: input,
      responses: { 201: success(answer) },
      responseHeaders: { 201: ['ETag', 'Location'] },
      problems: { ...problems, 409: 'The tenant has as many accounts as it may' },
      async handler({ caller, params, body, req, reply }) {
        const tenantId = await place.tenant(caller, params);
        const request = { tenantId, method: 'POST', path: system, body } as const;
        const created = await crm.ask(request, One);
        const { id } = created.body.data as { readonly id: string };
        const location = `${req.originalUrl.split('?', 1)[0]}/${id}`;
        return reply(201, shown(created), { ...tagged(created), Location: location });
      },
    }),
    [`show${label}Account`]: route({
      ...one,
      method: 'get',
      permission: permission('view'),
      summary: `Show an ${name}`,
      responses: { 200: success(answer), 304: empty },
      requestHeaders: ['If-None-Match'],
      responseHeaders: { 200: ['ETag'] },
      problems: { ...problems, 304: 'It is still in a version that `If-None-Match` names' },
      async handler({ caller, params, reply }) {
        const tenantId = await place.tenant(caller, params);
        const request = { tenantId, method: 'GET', path: systemOne(params) } as const;
        // Express makes it a 304 where the tag is one that the client has.
        const asked = await crm.ask(request, One);
        return reply(200, shown(asked), tagged(asked));
      },
    }),
    [`update${label}Account`]: route({
      ...one,
      method: 'put',
      permission: permission('update'),
      summary: `Change an ${name}`,
      description: accountChange,
      body: partial(input) as Shape,
      responses: { 200: success(answer) },
      requestHeaders: ['If-Match'],
      responseHeaders: { 200: ['ETag'] },
      problems: changeProblems,
      async handler({ caller, params, body, req, reply }) {
        const tenantId = await place.tenant(caller, params);
        const path = systemOne(params);
        const ifMatch = req.get('If-Match');
        const changed = await crm.ask({ tenantId, method: 'PUT', path, body, ifMatch }, One);
        return reply(200, shown(changed), tagged(changed));
      },
    }),
    [`delete${label}Account`]: route({
      ...one,
      method: 'delete',
      permission: permission('delete'),
      summary: `Delete an ${name}, with its credentials`,
      responses: { 200: done },
      requestHeaders: ['If-Match'],
      problems: changeProblems,
      async handler({ caller, params, req, reply }) {
        const tenantId = await place.tenant(caller, params);
        const ifMatch = req.get('If-Match');
        await crm.tell({ tenantId, method: 'DELETE', path: systemOne(params), ifMatch });
        return reply(200, { success: true, message: 'The account is deleted.' });
      },
    }),
  };
};

interface Dependencies {
  readonly crm: Crm;
  /** 404 where there is no such tenant. */
  readonly tenants: { show(id: string): Promise<unknown> };
}

/** `/api/email/*`, `/api/sms/*`, and the same below a tenant. */
export const accountRoutes = ({ crm, tenants }: Dependencies): RouteTable => {
  const places: readonly Place[] = [
    {
      prefix: '/api/tenants/{tenantId}',
      label: 'Tenant',
      params: shape({ tenantId: uuid() }) as Shape,
      async tenant(_caller, { tenantId }) {
        await tenants.show(`${tenantId}`);
        return `${tenantId}`;
      },
    },
    {
      prefix: '/api',
      label: '',
      params: shape({}) as Shape,
      tenant: async (caller) => activeTenant(caller).id,
    },
  ];
  const tables = places.flatMap((place) => kinds.map((kind) => proxies(crm, place, kind)));
  return Object.assign({}, ...tables);
};
