import { email, named, optional, shape, text, uuid, verbatim } from '@tessera/fields';
import type { RouteEntry, RouteTable } from '@tessera/http-kit';
import type { Request } from 'express';
import { authorize, personOf } from '../../access/access.ts';
import { type Caller, done, route, success } from '../../http/route.ts';
import { localeOf, originOf } from '../../origin/origin.ts';
import type { UserCaller } from '../../tokens/caller.ts';
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

interface Dependencies {
  readonly invitations: InvitationsService;
  authenticate(req: Request): Promise<Caller>;
}

export const invitationRoutes = ({ invitations, authenticate }: Dependencies): RouteTable => {
  /** The person who is signed in, where a token is sent. */
  const callerOf = async (req: Request): Promise<UserCaller | null> => {
    if (req.headers.authorization === undefined) return null;
    const caller = await authenticate(req);
    await authorize(caller, { ...acceptInvitation, permission: 'authenticated' }, req);
    return personOf(caller);
  };

  const acceptInvitation: RouteEntry = route({
    method: 'post',
    path: '/api/auth/invitations/accept',
    permission: 'public',
    limit: 'public',
    clients: 'first_party',
    summary: 'Accept an invitation, with the token of the mail',
    description:
      'Whoever has an account sends the token of a sign-in to that account, and becomes a member of the tenant. Whoever has none gives a name and chooses a password; 422 names what is missing. An account whose address was never confirmed is given to the reader of the mail, with a new password and without its factors and sessions. Nobody is signed in by it.',
    body: AcceptInvitation,
    responses: { 200: success(Accepted) },
    problems: {
      401: 'The address has an account: sign in to it first',
      403: 'The tenant is suspended, or the invitation is for another account',
      409: 'The account was made at the same time',
    },
    async handler({ body, req, reply }) {
      const given = {
        firstName: body.first_name,
        lastName: body.last_name,
        password: body.password,
        confirmation: body.password_confirmation,
      };
      const caller = await callerOf(req);
      const from = { origin: originOf(req), locale: localeOf(req), caller };
      const { id, slug, name } = await invitations.accept(body.token, given, from);
      return reply(200, { success: true, data: { tenant: { id, slug, name } } });
    },
  });

  return {
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
        const { email, role } = body;
        await invitations.invite(caller, { ...params, email, role }, originOf(req));
        return reply(202, { success: true, message: 'The invitation is on its way.' });
      },
    }),
    acceptInvitation,
  };
};
