import { named, omissible, shape } from '@tessera/fields';
import type { RouteTable } from '@tessera/http-kit';
import { personOf } from '../../access/access.ts';
import { done, route } from '../../http/route.ts';
import { originOf } from '../../origin/origin.ts';
import { activity_id, DisputeActivity } from './disputes.schema.ts';
import type { DisputesService } from './disputes.service.ts';

export const disputeRoutes = (disputes: DisputesService): RouteTable => ({
  disputeActivity: route({
    method: 'post',
    path: '/api/profile/activity/dispute',
    permission: 'authenticated',
    clients: 'first_party',
    limit: 'password',
    summary: 'Report activity that was not yours and change the password',
    description:
      'Ends all other sessions and trust in devices, as `password/change` does. The session of the token continues. The user is notified by mail.',
    body: DisputeActivity,
    responses: { 200: done },
    problems: {
      404: 'The caller has no such activity entry',
      409: 'The password was changed at the same time',
    },
    async handler({ caller, body, req, reply }) {
      const given = {
        current: body.current_password,
        password: body.new_password,
        confirmation: body.new_password_confirmation,
      };
      const entryId = body.activity_id ?? null;
      await disputes.byPassword(personOf(caller), entryId, given, originOf(req));
      const message = 'The password has been changed and all other sessions have ended.';
      return reply(200, { success: true, message });
    },
  }),
  disputeActivityByLink: route({
    method: 'post',
    path: '/api/profile/activity/dispute/link',
    permission: 'authenticated',
    clients: 'first_party',
    limit: 'passwordForgot',
    summary: 'Report activity that was not yours, without the current password',
    description:
      'Ends all other sessions and trust in devices, and mails a link to choose a new password. The session of the token continues.',
    body: omissible(named('DisputeActivityByLink', shape({ activity_id }))),
    responses: { 200: done },
    problems: { 404: 'The caller has no such activity entry' },
    async handler({ caller, body, req, reply }) {
      await disputes.byLink(personOf(caller), body.activity_id ?? null, originOf(req));
      const message =
        'All other sessions have ended. A mail with a link to choose a new password is on its way.';
      return reply(200, { success: true, message });
    },
  }),
});
