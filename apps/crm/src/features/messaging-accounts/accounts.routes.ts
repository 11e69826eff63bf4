import {
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
import { systemRoute } from '../../system/system-route.ts';
import type { Account } from './accounts.repository.ts';
import type { AccountInput, AccountsService } from './accounts.service.ts';

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
    ...{ channel: 'email', label: 'Email', name: 'e-mail account' },
    ...{ input: asInput(EmailAccountInput), answer: EmailAccount },
  } satisfies Kind<EmailAccountPayload>,
  sms: {
    ...{ channel: 'sms', label: 'Sms', name: 'SMS account' },
    ...{ input: asInput(SmsAccountInput), answer: SmsAccount },
  } satisfies Kind<SmsAccountPayload>,
} as const;

/** The settings of a row were checked by the shape of its channel when they were written. */
const present = <Answer>(account: Account): Answer => {
  const { id, name, settings, isActive, sealedCredentials, createdAt, updatedAt } = account;
  return {
    ...{ id, name, ...(settings as object) },
    is_active: isActive,
    has_credentials: sealedCredentials !== null,
    ...{ created_at: createdAt, updated_at: updatedAt },
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
      query: shape({
        ...pageFields,
      }),
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
      problems: { 409: 'The tenant has as many accounts as it may' },
      async handler({ caller, body, reply }) {
        const account = await accounts.create(caller.tenantId, body);
        return reply(201, { data: present<Answer>(account) });
      },
    }),
    [`get${label}Account`]: systemRoute({
      ...named,
      method: 'get',
      summary: `Show an ${name}`,
      responses: { 200: record(answer) },
      async handler({ caller, params, reply }) {
        const account = await accounts.show(caller.tenantId, params.id);
        return reply(200, { data: present<Answer>(account) });
      },
    }),
    [`update${label}Account`]: systemRoute({
      ...named,
      method: 'put',
      summary: `Change an ${name}`,
      description: 'Fields that are left out stay as they are, credentials too.',
      body: change,
      responses: { 200: record(answer) },
      async handler({ caller, params, body, reply }) {
        const account = await accounts.change(caller.tenantId, params.id, body);
        return reply(200, { data: present<Answer>(account) });
      },
    }),
    [`delete${label}Account`]: systemRoute({
      ...named,
      method: 'delete',
      summary: `Delete an ${name}, with its credentials`,
      responses: { 204: empty },
      async handler({ caller, params, reply }) {
        await accounts.remove(caller.tenantId, params.id);
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
