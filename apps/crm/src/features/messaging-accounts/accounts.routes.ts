import {
  accountChange,
  type Channel,
  EmailAccount,
  EmailAccountInput,
  type EmailAccountPayload,
  SmsAccount,
  SmsAccountInput,
  type SmsAccountPayload,
} from '@tessera/contracts';
import { type Field, partial, type Shape, shape, uuid } from '@tessera/fields';
import { empty, type RouteTable } from '@tessera/http-kit';
import { page, record } from '../../http.ts';
import { pageFields } from '../../records/list-query.ts';
import { pageOf, paging } from '../../records/paging.ts';
import { changeProblems } from '../../records/routes.ts';
import { acceptedVersions, tagged } from '../../records/versions.ts';
import { systemRoute } from '../../system/system-route.ts';
import type { Account } from './accounts.repository.ts';
import { type AccountInput, type AccountsService, MOST_ACCOUNTS } from './accounts.service.ts';

/** What tells the routes of one channel from those of the other. */
interface Kind<Answer> {
  readonly channel: Channel;
  /** In operation ids: `createEmailAccount`. */
  readonly label: string;
  readonly name: string;
  readonly input: Shape & Field<AccountInput>;
  readonly answer: Field<Answer>;
}

const asInput = (input: Shape): Shape & Field<AccountInput> => input as never;

const kinds = {
  email: {
    channel: 'email',
    label: 'Email',
    name: 'email account',
    input: asInput(EmailAccountInput),
    answer: EmailAccount,
  } satisfies Kind<EmailAccountPayload>,
  sms: {
    channel: 'sms',
    label: 'Sms',
    name: 'SMS account',
    input: asInput(SmsAccountInput),
    answer: SmsAccount,
  } satisfies Kind<SmsAccountPayload>,
} as const;

/** The settings of a row were checked by the shape of its channel when they were written. */
const present = <Answer>(account: Account): Answer => {
  const { id, name, settings, isActive, sealedCredentials, createdAt, updatedAt } = account;
  return {
    ...(settings as object),
    id,
    name,
    is_active: isActive,
    has_credentials: sealedCredentials !== null,
    created_at: createdAt,
    updated_at: updatedAt,
  } as Answer;
};

const accountRoutesOf = <Answer>(kind: Kind<Answer>, accounts: AccountsService): RouteTable => {
  const { channel, label, name, input, answer } = kind;
  const path = `/system/${channel}/accounts`;
  const named = { path: `${path}/{id}`, params: shape({ id: uuid() }), resource: name } as const;
  const change = partial(input as Shape) as Shape & Field<Partial<AccountInput>>;
  return {
    [`list${label}Accounts`]: systemRoute({
      method: 'get',
      path,
      summary: `List ${name}s of a tenant`,
      query: shape(pageFields),
      responses: { 200: page(answer) },
      async handler({ caller, query, req, reply }) {
        const all = await accounts.list(caller.tenantId);
        const { rows, ...position } = pageOf(all, query.page, query.per_page);
        const data = rows.map((row) => present<Answer>(row));
        return reply(200, { data, ...paging(req.originalUrl, position) });
      },
    }),
    [`create${label}Account`]: systemRoute({
      method: 'post',
      path,
      summary: `Create an ${name}`,
      body: input,
      responses: { 201: record(answer) },
      responseHeaders: { 201: ['ETag', 'Location'] },
      problems: { 409: `The tenant has ${MOST_ACCOUNTS} accounts already` },
      async handler({ caller, body, req, reply }) {
        const account = await accounts.create(caller.tenantId, body);
        const location = `${req.originalUrl.split('?', 1)[0]}/${account.id}`;
        const headers = { ...tagged(account), Location: location };
        return reply(201, { data: present<Answer>(account) }, headers);
      },
    }),
    [`get${label}Account`]: systemRoute({
      ...named,
      method: 'get',
      summary: `Show an ${name}`,
      responses: { 200: record(answer), 304: empty },
      requestHeaders: ['If-None-Match'],
      responseHeaders: { 200: ['ETag'] },
      problems: { 304: 'It is still in a version that `If-None-Match` names' },
      async handler({ caller, params, reply }) {
        const account = await accounts.show(caller.tenantId, params.id);
        return reply(200, { data: present<Answer>(account) }, tagged(account));
      },
    }),
    [`update${label}Account`]: systemRoute({
      ...named,
      method: 'put',
      summary: `Change an ${name}`,
      description: accountChange,
      body: change,
      responses: { 200: record(answer) },
      requestHeaders: ['If-Match'],
      responseHeaders: { 200: ['ETag'] },
      problems: changeProblems,
      async handler({ caller, params, body, req, reply }) {
        const versions = acceptedVersions(req.get('If-Match'));
        const account = await accounts.change(caller.tenantId, params.id, body, versions);
        return reply(200, { data: present<Answer>(account) }, tagged(account));
      },
    }),
    [`delete${label}Account`]: systemRoute({
      ...named,
      method: 'delete',
      summary: `Delete an ${name}, with its credentials`,
      responses: { 204: empty },
      requestHeaders: ['If-Match'],
      problems: changeProblems,
      async handler({ caller, params, req, reply }) {
        await accounts.remove(caller.tenantId, params.id, acceptedVersions(req.get('If-Match')));
        return reply(204);
      },
    }),
  };
};

/** What services do with the accounts that messages are sent by (decision C14). */
export const accountRoutes = (
  accounts: Readonly<Record<Channel, AccountsService>>,
): RouteTable => ({
  ...accountRoutesOf(kinds.email, accounts.email),
  ...accountRoutesOf(kinds.sms, accounts.sms),
});
