import { described, int, named, optional, shape, text, uuid, verbatim } from '@tessera/fields';
import type { RouteTable } from '@tessera/http-kit';
import { personOf, userOf } from '../../access/access.ts';
import { done, route, success } from '../../http/route.ts';
import { sessionCookie } from '../../http/session-cookie.ts';
import { originOf } from '../../origin/origin.ts';
import type { SessionsService } from './sessions.service.ts';

const token = described(verbatim(8192), 'The bearer token');
const seconds = int(0, Number.MAX_SAFE_INTEGER);
const expires_in = described(seconds, 'Seconds that the token lives');

const Refreshed = named(
  'Refreshed',
  shape({
    token,
    expires_in,
    refresh_expires_in: described(seconds, 'Seconds that the sign-in lives'),
  }),
);

const Switched = named(
  'Switched',
  shape({
    token,
    refresh_token: optional(
      described(verbatim(200), 'With a token of the code flow: for `POST /oauth/token`.'),
    ),
    expires_in,
    tenant: named('SwitchedTenant', shape({ id: uuid(), slug: text(63), name: text(200) })),
  }),
);

const secondsBetween = (from: Date, to: Date): number => Math.floor((+to - +from) / 1000);

export const sessionRoutes = (
  sessions: SessionsService,
  config: { readonly isLocal: boolean },
): RouteTable => {
  const cookie = sessionCookie(config);
  return {
    refresh: route({
      method: 'post',
      path: '/api/auth/refresh',
      permission: 'authenticated',
      credential: 'renewable',
      admits: ['email_verification_required'],
      summary: 'Exchange the token for a new one',
      description:
        'Takes a token that has expired, too, for as long as the sign-in lasts. The token that is presented is no longer good: presented again, it ends everything that the user has.',
      responses: { 200: success(Refreshed) },
      problems: { 422: 'The token was exchanged before: every token of the user is revoked' },
      async handler({ caller, req, reply }) {
        const { token, record, chainEndsAt } = await sessions.refresh(
          userOf(caller),
          originOf(req),
        );
        const { createdAt, expiresAt } = record;
        return reply(200, {
          success: true,
          data: {
            token,
            expires_in: secondsBetween(createdAt, expiresAt),
            refresh_expires_in: secondsBetween(createdAt, chainEndsAt),
          },
        });
      },
    }),
    logoutAll: route({
      method: 'post',
      path: '/api/auth/logout-all',
      permission: 'authenticated',
      clients: 'first_party',
      limit: 'signOut',
      summary: 'Sign out everywhere',
      description: 'Ends every session, revokes every token, and trusts no device any more.',
      responses: { 200: done },
      async handler({ caller, req, res, reply }) {
        await sessions.logoutAll(personOf(caller), originOf(req));
        res.clearCookie(cookie.name, cookie.options);
        return reply(200, { success: true, message: 'Signed out everywhere.' });
      },
    }),
    switchTenant: route({
      method: 'post',
      path: '/api/auth/switch-tenant',
      permission: 'authenticated',
      admits: ['scoped'],
      summary: 'Exchange the token for one of another tenant',
      description:
        'The session stays, and the next sign-in starts in that tenant. The token that is presented is no longer good. A token of the code flow of a first-party client gets a refresh token for the new tenant too, and the refresh token that it had is no longer good; other clients stay in the tenant of their token.',
      body: named('SwitchTenant', shape({ tenant_id: uuid() })),
      responses: { 200: success(Switched) },
      problems: {
        403: 'The user is no member of the tenant, the tenant is suspended, or the client is not first-party',
        404: 'There is no such tenant; only administrators learn of it',
      },
      async handler({ body, caller, req, reply }) {
        const { token, refreshToken, expiresIn, tenant } = await sessions.switchTenant(
          personOf(caller),
          body.tenant_id,
          originOf(req),
        );
        const { id, slug, name } = tenant;
        const data = {
          token,
          ...(refreshToken !== null && { refresh_token: refreshToken }),
          expires_in: expiresIn,
          tenant: { id, slug, name },
        };
        return reply(200, { success: true, data });
      },
    }),
  };
};
