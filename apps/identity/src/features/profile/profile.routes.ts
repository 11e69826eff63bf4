import type { RouteEntry, RouteTable } from '@tessera/http-kit';
import { personOf, userOf } from '../../access/access.ts';
import { pageMeta, page as pageOf, route, success } from '../../http/route.ts';
import { originOf } from '../../origin/origin.ts';
import {
  Activity,
  ActivityQuery,
  changeOf,
  Profile,
  ProfileInput,
  presentActivity,
  presentProfile,
  presentSecurity,
  SecurityStatus,
} from './profile.schema.ts';
import type { ProfileService } from './profile.service.ts';

export const profileRoutes = (profiles: ProfileService): RouteTable => {
  const update = (path: string, summary: string): RouteEntry =>
    route({
      method: 'put',
      path,
      permission: 'authenticated',
      summary,
      description:
        'Only for people: service accounts are managed by the tenant’s administrators. Omitted fields are left unchanged.',
      body: ProfileInput,
      responses: { 200: success(Profile) },
      async handler({ caller, body, req, reply }) {
        const user = await profiles.change(personOf(caller), changeOf(body), originOf(req));
        return reply(200, { success: true, data: presentProfile(user) });
      },
    });
  return {
    getProfile: route({
      method: 'get',
      path: '/api/profile',
      permission: 'authenticated',
      allowRestrictions: ['impersonation'],
      summary: 'Get your profile',
      responses: { 200: success(Profile) },
      async handler({ caller, reply }) {
        const user = await profiles.show(userOf(caller));
        return reply(200, { success: true, data: presentProfile(user) });
      },
    }),
    updateProfile: update('/api/profile', 'Update your profile'),
    updateUserProfile: update(
      '/api/user/profile',
      'Update your profile (same as PUT /api/profile)',
    ),
    getSecurity: route({
      method: 'get',
      path: '/api/me/security',
      permission: 'authenticated',
      allowRestrictions: ['pin_required', 'password_change_required', 'impersonation'],
      summary: 'Get the security status of your account',
      responses: { 200: success(SecurityStatus) },
      async handler({ caller, reply }) {
        const security = await profiles.security(userOf(caller));
        return reply(200, { success: true, data: presentSecurity(security) });
      },
    }),
    listActivity: route({
      method: 'get',
      path: '/api/profile/activity',
      permission: 'authenticated',
      allowRestrictions: ['impersonation'],
      summary: 'List your activity, newest first',
      description: 'With a token of a tenant’s client, only the activity in that tenant.',
      query: ActivityQuery,
      responses: { 200: pageOf(Activity) },
      async handler({ caller, query: { page: asked, per_page: perPage, kind, from, to }, reply }) {
        const { rows, page, total } = await profiles.activity(userOf(caller), {
          page: asked,
          perPage,
          kind,
          from,
          to,
        });
        const meta = pageMeta(page, perPage, total);
        return reply(200, { success: true, data: rows.map(presentActivity), meta });
      },
    }),
  };
};
