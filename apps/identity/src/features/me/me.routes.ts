import { PrincipalPayload } from '@tessera/contracts';
import { bool, named, nullable, rawText, shape, text, time, uuid } from '@tessera/fields';
import type { RouteTable } from '@tessera/http-kit';
import { userOf } from '../../access/access.ts';
import { route, success } from '../../http/route.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import type { Profile } from './me.repository.ts';
import type { MeService } from './me.service.ts';

const Me = named(
  'Me',
  shape({
    id: uuid(),
    tenant_id: nullable(uuid()),
    email: nullable(text(254)),
    name: text(401),
    first_name: text(200),
    // Empty for a service account, which has a single name.
    last_name: rawText(200, 0),
    is_active: bool(),
    email_verified_at: nullable(time()),
    last_login_at: nullable(time()),
    created_at: time(),
  }),
);

const present = (profile: Profile, { tenant }: UserCaller) => ({
  id: profile.id,
  tenant_id: tenant?.id ?? null,
  email: profile.email,
  name: `${profile.firstName} ${profile.lastName}`.trim(),
  first_name: profile.firstName,
  last_name: profile.lastName,
  is_active: profile.isActive,
  email_verified_at: profile.emailVerifiedAt,
  last_login_at: profile.lastLoginAt,
  created_at: profile.createdAt,
});

export const meRoutes = (me: MeService): RouteTable => ({
  getMe: route({
    method: 'get',
    path: '/api/me',
    permission: 'authenticated',
    allowRestrictions: ['email_verification_required', 'password_change_required', 'impersonation'],
    summary: 'Get your account',
    responses: { 200: success(Me) },
    async handler({ caller, reply }) {
      const user = userOf(caller);
      return reply(200, { success: true, data: present(await me.profile(user), user) });
    },
  }),
  getUser: route({
    method: 'get',
    path: '/api/user',
    permission: 'authenticated',
    allowRestrictions: ['impersonation', 'scoped'],
    limit: 'service',
    summary: 'Get the principal of a token, for services',
    description:
      'Accepts every kind of token. With a token of a third-party client, `email` and `name` are null without the scopes `email` and `profile`. Clients and system administrators select the tenant to act in with the header `X-Tenant: <slug>`.',
    requestHeaders: ['X-Tenant'],
    responses: { 200: success(PrincipalPayload) },
    async handler({ caller, req, reply }) {
      const data = await me.principal(caller, req.get('x-tenant'));
      return reply(200, { success: true, data });
    },
  }),
});
