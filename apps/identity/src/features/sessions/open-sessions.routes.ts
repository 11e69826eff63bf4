import { bool, described, list, named, nullable, shape, text, time, uuid } from '@tessera/fields';
import type { RouteTable } from '@tessera/http-kit';
import { personOf } from '../../access/access.ts';
import { done, onlyPage, page, route } from '../../http/route.ts';
import { originOf } from '../../origin/origin.ts';
import { placeFields, presentPlace } from '../devices/device.schema.ts';
import { MAX_SESSIONS } from './open-sessions.repository.ts';
import type { ListedSession, OpenSessionsService } from './open-sessions.service.ts';

const Session = named(
  'Session',
  shape({
    id: uuid(),
    device_id: described(nullable(uuid()), 'Null if the device is no longer recorded'),
    ip_address: nullable(text(100)),
    ...placeFields,
    user_agent: nullable(text(500)),
    is_remembered: described(
      bool(),
      'True if the session survives closing the browser and has no idle timeout',
    ),
    is_current: bool(),
    applications: described(
      list(text(200), { max: 1000 }),
      'Names of the applications signed in with this session',
    ),
    created_at: time(),
    last_active_at: described(time(), 'With a precision of a few minutes'),
    expires_at: time(),
  }),
);

const present = (session: ListedSession) => ({
  id: session.id,
  device_id: session.deviceId,
  ip_address: session.ipAddress,
  ...presentPlace(session.place),
  user_agent: session.userAgent || null,
  is_remembered: session.isRemembered,
  is_current: session.isCurrent,
  applications: [...session.applications],
  created_at: session.createdAt,
  last_active_at: session.lastActiveAt,
  expires_at: session.expiresAt,
});

export const openSessionRoutes = (sessions: OpenSessionsService): RouteTable => ({
  listSessions: route({
    method: 'get',
    path: '/api/sessions',
    permission: 'authenticated',
    clients: 'first_party',
    summary: 'List your open sessions',
    description: 'All on one page, most recently used first.',
    responses: { 200: page(Session, { max: MAX_SESSIONS }) },
    async handler({ caller, reply }) {
      const listed = await sessions.list(personOf(caller));
      return reply(200, onlyPage(listed.map(present)));
    },
  }),
  deleteSession: route({
    method: 'delete',
    path: '/api/sessions/{id}',
    permission: 'authenticated',
    clients: 'first_party',
    resource: 'session',
    summary: 'End a session',
    description: 'Its access and refresh tokens are revoked immediately. The device remains known.',
    params: shape({ id: uuid() }),
    responses: { 200: done },
    async handler({ caller, params, req, reply }) {
      await sessions.end(personOf(caller), params.id, originOf(req));
      return reply(200, { success: true, message: 'The session has ended.' });
    },
  }),
  logoutOthers: route({
    method: 'post',
    path: '/api/auth/logout-others',
    permission: 'authenticated',
    clients: 'first_party',
    limit: 'signOut',
    summary: 'Sign out everywhere else',
    description:
      'Ends all sessions except that of the token and revokes trust in all other devices.',
    responses: { 200: done },
    async handler({ caller, req, reply }) {
      await sessions.endOthers(personOf(caller), originOf(req));
      return reply(200, { success: true, message: 'All other sessions have ended.' });
    },
  }),
});
