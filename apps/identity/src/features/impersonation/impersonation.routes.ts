import { described, int, named, nullable, shape, text, uuid, verbatim } from '@tessera/fields';
import type { RouteTable } from '@tessera/http-kit';
import { route, success } from '../../http/route.ts';
import { originOf } from '../../origin/origin.ts';
import type { ImpersonationService } from './impersonation.service.ts';

const Impersonation = named(
  'Impersonation',
  shape({
    token: described(verbatim(8192), 'The bearer token'),
    expires_in: described(int(0, Number.MAX_SAFE_INTEGER), 'Seconds that the token lives'),
    user: named(
      'ImpersonatedUser',
      shape({
        id: uuid(),
        email: nullable(text(254)),
        name: text(401),
        first_name: text(200),
        last_name: text(200),
      }),
    ),
  }),
);

export const impersonationRoutes = (impersonation: ImpersonationService): RouteTable => ({
  impersonate: route({
    method: 'post',
    path: '/api/admin/users/{id}/impersonate',
    permission: 'identity.users.impersonate',
    clients: 'first_party',
    resource: 'user',
    summary: 'Act as another user for an hour',
    description:
      'For system administrators themselves. The token opens no session and cannot be renewed; here it only reads what is the user’s own, and ends with `POST /api/auth/logout`. The reason is kept in the activity log of both. Nobody acts as an administrator, a service account or a deactivated user.',
    params: shape({ id: uuid() }),
    body: named('Impersonate', shape({ reason: text(500) })),
    responses: { 200: success(Impersonation) },
    async handler({ caller, params, body, req, reply }) {
      const started = await impersonation.start(caller, params.id, body.reason, originOf(req));
      const { id, email, firstName, lastName } = started.user;
      const user = {
        id,
        email,
        first_name: firstName,
        last_name: lastName,
        name: `${firstName} ${lastName}`.trim(),
      };
      const { token, expiresIn } = started;
      return reply(200, { success: true, data: { token, expires_in: expiresIn, user } });
    },
  }),
});
