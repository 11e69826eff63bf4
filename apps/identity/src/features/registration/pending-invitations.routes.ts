import { shape, uuid } from '@tessera/fields';
import type { RouteTable } from '@tessera/http-kit';
import { done, pageMeta, page as pageOf, route } from '../../http/route.ts';
import { originOf } from '../../origin/origin.ts';
import {
  Invitation,
  InvitationsInQuery,
  invitationQueryOf,
  presentInvitation,
} from './pending-invitations.schema.ts';
import type { PendingInvitationsService } from './pending-invitations.service.ts';

/** The addresses of people who are not members concern nobody who may not invite. */
const PERMISSION = 'identity.members.create';

export const pendingInvitationRoutes = (invitations: PendingInvitationsService): RouteTable => ({
  listInvitations: route({
    method: 'get',
    path: '/api/tenants/{tenantId}/invitations',
    permission: ['identity.members.list', PERMISSION],
    summary: 'List the pending invitations of a tenant',
    description:
      'Invitations that have not been accepted, withdrawn or replaced by a later one, and have not expired. Shows what the inviter entered, whether or not the address has an account. A new invitation appears once its mail is on its way, usually at once. None is created for an address that a member has confirmed. Invitations are deleted with their role, with the account of the inviter and with the account of the invited person. The link of an invitation works only as long as the inviter may invite to its role.',
    params: shape({ tenantId: uuid() }),
    query: InvitationsInQuery,
    responses: { 200: pageOf(Invitation) },
    async handler({ params, query, reply }) {
      const found = await invitations.list(params.tenantId, invitationQueryOf(query));
      const meta = pageMeta(found.page, query.per_page, found.total);
      return reply(200, { success: true, data: found.invitations.map(presentInvitation), meta });
    },
  }),
  withdrawInvitation: route({
    method: 'delete',
    path: '/api/tenants/{tenantId}/invitations/{id}',
    permission: PERMISSION,
    resource: 'invitation',
    summary: 'Withdraw a pending invitation',
    description:
      'Its link stops working at once. The invited person is not notified. 404 if it has been accepted, withdrawn or replaced by a later one, or has expired.',
    params: shape({ tenantId: uuid(), id: uuid() }),
    responses: { 200: done },
    problems: {
      403: 'The caller lacks a permission, or the role of the invitation grants permissions that the caller does not hold',
    },
    async handler({ caller, params, req, reply }) {
      await invitations.withdraw(caller, params, originOf(req));
      return reply(200, { success: true, message: 'The invitation has been withdrawn.' });
    },
  }),
});
