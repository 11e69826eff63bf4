import { email, named, shape, text, uuid } from '@tessera/fields';
import type { RouteEntry, RouteTable } from '@tessera/http-kit';
import type { Request } from 'express';
import { authorize, personOf } from '../../access/access.ts';
import { type Caller, done, route, success } from '../../http/route.ts';
import { localeOf, originOf } from '../../origin/origin.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import { Accepted, AcceptInvitation } from './invitations.schema.ts';
import type { InvitationsService } from './invitations.service.ts';

interface Dependencies {
  readonly invitations: InvitationsService;
  authenticate(req: Request): Promise<Caller>;
}

export const invitationRoutes = ({ invitations, authenticate }: Dependencies): RouteTable => {
  /** The signed-in user, if the request has a token. */
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
    optionalCredentials: ['bearer'],
    limit: 'public',
    clients: 'first_party',
    summary: 'Accept an invitation',
    description:
      'Takes the token of the mail. Users with an account authenticate with a bearer token of that account and become members of the tenant. Others send a name and a new password; 422 names missing fields. An account whose address was never confirmed is given to the recipient of the mail, with a new password and without its factors and sessions. Accepting does not sign anybody in.',
    body: AcceptInvitation,
    responses: { 200: success(Accepted) },
    problems: {
      401: 'The address has an account; a bearer token of that account is required',
      403: 'The tenant is not active, or the invitation is for another account',
      409: 'The account was created at the same time',
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
      summary: 'Invite a person to the tenant by mail',
      description:
        'The response is the same whether or not an account with the address exists. Earlier invitations of the address stop working, except those to roles that grant permissions that the caller does not hold.',
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
