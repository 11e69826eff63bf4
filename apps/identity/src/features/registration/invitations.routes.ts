import { email, named, optional, shape, text, uuid, verbatim } from '@tessera/fields';
import type { RouteTable } from '@tessera/http-kit';
import { done, route, success } from '../../http.ts';
import { localeOf, originOf } from '../../origin.ts';
import type { InvitationsService } from './invitations.service.ts';

const Accepted = named(
  'AcceptedInvitation',
  shape({
    tenant: named('JoinedTenant', shape({ id: uuid(), slug: text(63), name: text(200) })),
  }),
);

export const AcceptInvitation = named(
  'AcceptInvitation',
  shape({
    token: verbatim(200, 0),
    first_name: optional(text(200)),
    last_name: optional(text(200)),
    password: optional(verbatim(1000, 0)),
    password_confirmation: optional(verbatim(1000, 0)),
  }),
);

export const invitationRoutes = (invitations: InvitationsService): RouteTable => ({
  inviteMember: route({
    method: 'post',
    path: '/api/tenants/{tenantId}/members',
    permission: 'identity.members.create',
    summary: 'Invite somebody into the tenant, by mail',
    description:
      'The answer is the same whether or not there is an account with the address. An earlier invitation of the same address is void.',
    params: shape({ tenantId: uuid() }),
    body: named('Invite', shape({ email: email(), role: text(100) })),
    responses: { 202: done },
    async handler({ caller, params, body, req, reply }) {
      const { tenantId } = params;
      const { email, role } = body;
      await invitations.invite(caller, { tenantId, email, role }, originOf(req));
      return reply(202, { success: true, message: 'The invitation is on its way.' });
    },
  }),
  acceptInvitation: route({
    method: 'post',
    path: '/api/auth/invitations/accept',
    permission: 'public',
    limit: 'public',
    summary: 'Accept an invitation, with the token of the mail',
    description:
      'Who has an account is made a member of the tenant. Who has none, or one whose address was never confirmed, gives a name and chooses a password; 422 names what is missing. Nobody is signed in by it.',
    body: AcceptInvitation,
    responses: { 200: success(Accepted) },
    problems: { 403: 'The tenant is suspended', 409: 'The account was made at the same time' },
    async handler({ body, req, reply }) {
      const given = {
        firstName: body.first_name,
        lastName: body.last_name,
        password: body.password,
        confirmation: body.password_confirmation,
      };
      const from = { origin: originOf(req), locale: localeOf(req) };
      const { id, slug, name } = await invitations.accept(body.token, given, from);
      return reply(200, { success: true, data: { tenant: { id, slug, name } } });
    },
  }),
});
