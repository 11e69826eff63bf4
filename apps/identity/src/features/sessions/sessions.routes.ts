import { described, int, named, optional, rawText, shape, text, uuid } from '@tessera/fields';
import type { RouteTable } from '@tessera/http-kit';
import { personOf, userOf } from '../../access/access.ts';
import { done, route, success } from '../../http/route.ts';
import { sessionCookie } from '../../http/session-cookie.ts';
import { originOf } from '../../origin/origin.ts';
import type { SessionsService } from './sessions.service.ts';

const token = described(rawText(8192), 'Bearer token');
const seconds = int(0, Number.MAX_SAFE_INTEGER);
const expires_in = described(seconds, 'Lifetime of the token in seconds');

const Refreshed = named(
  'Refreshed',
  shape({
    token,
    expires_in,
    refresh_expires_in: described(
      seconds,
      'Seconds until the session ends; the token can be renewed until then',
    ),
  }),
);

const Switched = named(
  'Switched',
  shape({
    token,
    refresh_token: optional(
      described(
        rawText(200),
        'For tokens of the code flow that have all scopes of their authorization: refresh token for `POST /oauth/token`',
      ),
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
      allowRestrictions: ['email_verification_required'],
      summary: 'Renew the token',
      description:
        'Accepts expired tokens as long as the session lasts. The presented token is revoked; presenting it again revokes all tokens of the user.',
      responses: { 200: success(Refreshed) },
      problems: { 422: 'The token was already renewed; all tokens of the user are revoked' },
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
      description: 'Ends all sessions and revokes all tokens and trusted devices.',
      responses: { 200: done },
      async handler({ caller, req, res, reply }) {
        await sessions.logoutAll(personOf(caller), originOf(req));
        res.clearCookie(cookie.name, cookie.options);
        return reply(200, { success: true, message: 'All sessions have ended.' });
      },
    }),
    switchTenant: route({
      method: 'post',
      path: '/api/auth/switch-tenant',
      permission: 'authenticated',
      allowRestrictions: ['scoped'],
      summary: 'Switch to another tenant',
      description:
        'Exchanges the token for one of another tenant in the same session; the next sign-in starts in that tenant. The presented token is revoked. With a code flow token of a first-party client, the response also contains a refresh token for the new tenant, which replaces the old one: presenting that afterwards counts as reuse. A token that was renewed with fewer scopes than its authorization is exchanged for one with the same scopes and expiry, without a refresh token. Other clients cannot switch.',
      body: named('SwitchTenant', shape({ tenant_id: uuid() })),
      responses: { 200: success(Switched) },
      problems: {
        403: 'The user is not a member of the tenant, the tenant is suspended, or the client is not first-party',
        404: 'The tenant does not exist (only system administrators get this response)',
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
