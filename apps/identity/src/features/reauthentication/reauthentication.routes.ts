import { named, rawText, shape } from '@tessera/fields';
import type { RouteTable } from '@tessera/http-kit';
import { personOf } from '../../access/access.ts';
import { done, route } from '../../http/route.ts';
import { originOf } from '../../origin/origin.ts';
import type { ReauthenticationService } from './reauthentication.service.ts';

export const reauthenticationRoutes = (reauthentication: ReauthenticationService): RouteTable => ({
  reauthenticate: route({
    method: 'post',
    path: '/api/auth/reauthenticate',
    permission: 'authenticated',
    clients: 'first_party',
    limit: 'password',
    summary: 'Confirm your password',
    description:
      'Sensitive operations, such as adding or removing a second factor or a PIN, need an authentication within the last minutes; otherwise they return 403 `reauthentication_required`. Confirming the password makes the authentication recent again for all tokens of the session.',
    body: named('Reauthentication', shape({ password: rawText(1000, 0) })),
    responses: { 200: done },
    async handler({ caller, body, req, reply }) {
      await reauthentication.reauthenticate(personOf(caller), body.password, originOf(req));
      return reply(200, { success: true, message: 'Your password is confirmed.' });
    },
  }),
});
