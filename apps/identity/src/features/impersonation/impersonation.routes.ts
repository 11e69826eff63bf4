import { described, int, named, nullable, rawText, shape, text, uuid } from '@tessera/fields';
import type { RouteTable } from '@tessera/http-kit';
import { route, success } from '../../http/route.ts';
import { originOf } from '../../origin/origin.ts';
import type { ImpersonationService } from './impersonation.service.ts';

const Impersonation = named(
  'Impersonation',
  shape({
    token: described(rawText(8192), 'Bearer token that acts as the user'),
    expires_in: described(int(0, Number.MAX_SAFE_INTEGER), 'Lifetime of the token in seconds'),
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
    summary: 'Impersonate a user for an hour',
    description:
      'Only for system administrators in person. The token opens no session and cannot be renewed; in this service it can only read the user’s own data, and it ends with `POST /api/auth/logout`. The reason is recorded in the activity of both users. Administrators, service accounts and deactivated users cannot be impersonated.',
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
