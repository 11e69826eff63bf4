import {
  accountChange,
  accountTest,
  type Channel,
  EmailAccount,
  EmailAccountInput,
  EmailTestInput,
  type IdentityPermission,
  SentMessage,
  SmsAccount,
  SmsAccountInput,
  SmsTestInput,
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
  readonly name: string;
  readonly permissions: 'identity.email_accounts' | 'identity.sms_accounts';
  readonly input: Shape;
  readonly payload: Field;
  readonly testInput: Shape;
}

const email: Kind = {
  channel: 'email',
  name: 'email account',
  permissions: 'identity.email_accounts',
  input: EmailAccountInput,
  payload: EmailAccount,
  testInput: EmailTestInput,
};

const sms: Kind = {
  channel: 'sms',
  name: 'SMS account',
  permissions: 'identity.sms_accounts',
  input: SmsAccountInput,
  payload: SmsAccount,
  testInput: SmsTestInput,
};

/** How a route selects the tenant: from the path or from the token. */
interface RouteScope {
  readonly prefix: '/api' | '/api/tenants/{tenantId}';
  readonly params: Shape;
  /** The id of the request's tenant; throws if there is none. */
  tenant(caller: Caller, params: Readonly<Record<string, unknown>>): Promise<string>;
}

const ListQuery = shape(pageFields);

const problems = {
  502: {
    description: '`crm_failed`: CRM returned an unusable response',
    error: () => crmFailed(undefined),
  },
  503: {
    description: '`crm_not_configured` or `crm_unavailable`',
    error: crmNotConfigured,
  },
} as const;

const changeProblems = {
  ...problems,
  412: {
    description: 'The current version does not match `If-Match`',
    error: preconditionFailed,
  },
} as const;

const testProblems = {
  ...problems,
  422: accountTest.refused,
  502: {
    description: `${accountTest.failed}; or \`crm_failed\`: CRM returned an unusable response`,
    error: () => crmFailed(undefined),
  },
} as const;

/** Milliseconds. CRM waits 15 seconds for a mail server or provider. */
const TEST_TIMEOUT = 20_000;

const etagHeader = ({ etag }: CrmAnswer<unknown>): Record<string, string> =>
  etag === undefined ? {} : { ETag: etag };

/**
 * Proxies to CRM's system routes (decision I13). Nothing else is forwarded: the path is built from validated
 * ids, the body is validated, `If-Match` is the only forwarded header, and the response is checked against its
 * schema.
 */
const proxies = (crm: Crm, scope: RouteScope, kind: Kind) => {
  const { channel, name, permissions, input, payload, testInput } = kind;
  const path = `${scope.prefix}/${channel}/accounts`;
  const params = scope.params;
  const oneParams = shape({ ...params.fields, accountId: uuid() }) as Shape;
  const system = `/${channel}/accounts`;
  const One = openShape({ data: payload });
  const Sent = openShape({ data: SentMessage });
  const Page = openShape({ data: list(payload), meta: PageMeta });
  const permission = (verb: string) => `${permissions}.${verb}` as IdentityPermission;
  // The last parameter of the path is the tenant.
  const resource = 'tenantId' in params.fields ? 'tenant' : name;
  const all = { path, params, resource, problems } as const;
  const one = {
    ...all,
    path: `${path}/{accountId}` as string,
    params: oneParams,
    resource: name,
  } as const;
  const systemOne = (given: Readonly<Record<string, unknown>>) => `${system}/${given.accountId}`;
  const shown = ({ body }: CrmAnswer<{ data: unknown }>) =>
    ({ success: true, data: body.data }) as const;
  return {
    list: route({
      ...all,
      method: 'get',
      permission: permission('list'),
      summary: `List ${name}s`,
      query: ListQuery,
      responses: { 200: page(payload) },
      async handler({ caller, params, query, reply }) {
        const tenantId = await scope.tenant(caller, params);
        const url = `${system}?page=${query.page}&per_page=${query.per_page}`;
        const { body } = await crm.ask({ tenantId, method: 'GET', path: url }, Page);
        const { data, meta } = body;
        return reply(200, { success: true, data, meta });
      },
    }),
    create: route({
      ...all,
      method: 'post',
      permission: permission('create'),
      summary: `Create an ${name}`,
      body: input,
      responses: { 201: success(payload) },
      responseHeaders: { 201: ['ETag', 'Location'] },
      problems: { ...problems, 409: 'The tenant has reached its maximum number of accounts' },
      async handler({ caller, params, body, req, reply }) {
        const tenantId = await scope.tenant(caller, params);
        const request = { tenantId, method: 'POST', path: system, body } as const;
        const created = await crm.ask(request, One);
        const { id } = created.body.data as { readonly id: string };
        const location = `${req.originalUrl.split('?', 1)[0]}/${id}`;
        return reply(201, shown(created), { ...etagHeader(created), Location: location });
      },
    }),
    get: route({
      ...one,
      method: 'get',
      permission: permission('view'),
      summary: `Get an ${name}`,
      responses: { 200: success(payload), 304: empty },
      requestHeaders: ['If-None-Match'],
      responseHeaders: { 200: ['ETag'] },
      problems: { ...problems, 304: 'The current version matches `If-None-Match`' },
      async handler({ caller, params, reply }) {
        const tenantId = await scope.tenant(caller, params);
        const request = { tenantId, method: 'GET', path: systemOne(params) } as const;
        // Express answers 304 if the ETag matches.
        const found = await crm.ask(request, One);
        return reply(200, shown(found), etagHeader(found));
      },
    }),
    update: route({
      ...one,
      method: 'put',
      permission: permission('update'),
      summary: `Update an ${name}`,
      description: accountChange,
      body: partial(input) as Shape,
      responses: { 200: success(payload) },
      requestHeaders: ['If-Match'],
      responseHeaders: { 200: ['ETag'] },
      problems: changeProblems,
      async handler({ caller, params, body, req, reply }) {
        const tenantId = await scope.tenant(caller, params);
        const path = systemOne(params);
        const ifMatch = req.get('If-Match');
        const changed = await crm.ask({ tenantId, method: 'PUT', path, body, ifMatch }, One);
        return reply(200, shown(changed), etagHeader(changed));
      },
    }),
    delete: route({
      ...one,
      method: 'delete',
      permission: permission('delete'),
      summary: `Delete an ${name} and its credentials`,
      responses: { 200: done },
      requestHeaders: ['If-Match'],
      problems: changeProblems,
      async handler({ caller, params, req, reply }) {
        const tenantId = await scope.tenant(caller, params);
        const ifMatch = req.get('If-Match');
        await crm.tell({ tenantId, method: 'DELETE', path: systemOne(params), ifMatch });
        return reply(200, { success: true, message: 'The account has been deleted.' });
      },
    }),
    test: route({
      ...one,
      method: 'post',
      path: `${one.path}/test`,
      permission: permission('update'),
      summary: `Send a test message through an ${name}`,
      description: accountTest.description,
      body: testInput,
      responses: { 200: success(SentMessage) },
      problems: testProblems,
      async handler({ caller, params, body, reply }) {
        const tenantId = await scope.tenant(caller, params);
        const path = `${systemOne(params)}/test`;
        const request = { tenantId, method: 'POST', path, body, timeoutMs: TEST_TIMEOUT } as const;
        const sent = await crm.ask(request, Sent);
        return reply(200, { success: true, data: sent.body.data });
      },
    }),
  };
};

interface Dependencies {
  readonly crm: Crm;
  /** 404 if the tenant does not exist. */
  readonly tenants: { show(id: string): Promise<unknown> };
}

/** Routes of `/api/email/*`, `/api/sms/*` and the same paths below a tenant. */
export const accountRoutes = ({ crm, tenants }: Dependencies): RouteTable => {
  const ofTenant: RouteScope = {
    prefix: '/api/tenants/{tenantId}',
    params: shape({ tenantId: uuid() }) as Shape,
    async tenant(_caller, { tenantId }) {
      await tenants.show(`${tenantId}`);
      return `${tenantId}`;
    },
  };
  const ofCaller: RouteScope = {
    prefix: '/api',
    params: shape({}) as Shape,
    tenant: async (caller) => activeTenant(caller).id,
  };
  const tenantEmail = proxies(crm, ofTenant, email);
  const tenantSms = proxies(crm, ofTenant, sms);
  const ownEmail = proxies(crm, ofCaller, email);
  const ownSms = proxies(crm, ofCaller, sms);
  return {
    listTenantEmailAccounts: tenantEmail.list,
    createTenantEmailAccount: tenantEmail.create,
    getTenantEmailAccount: tenantEmail.get,
    updateTenantEmailAccount: tenantEmail.update,
    deleteTenantEmailAccount: tenantEmail.delete,
    testTenantEmailAccount: tenantEmail.test,

    listTenantSmsAccounts: tenantSms.list,
    createTenantSmsAccount: tenantSms.create,
    getTenantSmsAccount: tenantSms.get,
    updateTenantSmsAccount: tenantSms.update,
    deleteTenantSmsAccount: tenantSms.delete,
    testTenantSmsAccount: tenantSms.test,

    listEmailAccounts: ownEmail.list,
    createEmailAccount: ownEmail.create,
    getEmailAccount: ownEmail.get,
    updateEmailAccount: ownEmail.update,
    deleteEmailAccount: ownEmail.delete,
    testEmailAccount: ownEmail.test,

    listSmsAccounts: ownSms.list,
    createSmsAccount: ownSms.create,
    getSmsAccount: ownSms.get,
    updateSmsAccount: ownSms.update,
    deleteSmsAccount: ownSms.delete,
    testSmsAccount: ownSms.test,
  };
};
