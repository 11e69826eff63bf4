import {
  bool,
  described,
  list,
  named,
  nullable,
  oneOf,
  shape,
  text,
  time,
  uuid,
} from '@tessera/fields';
import type { RouteTable } from '@tessera/http-kit';
import { personOf } from '../../access/access.ts';
import { done, route, success } from '../../http/route.ts';
import { originOf } from '../../origin/origin.ts';
import type { Application } from './applications.repository.ts';
import { type ApplicationsService, MOST_APPLICATIONS } from './applications.service.ts';

const AllowedApplication = named(
  'AllowedApplication',
  shape({
    client_id: text(200),
    name: text(200),
    kind: described(
      oneOf('first_party', 'tenant', 'third_party'),
      'Whose it is: the platform’s, a tenant’s, or somebody else’s',
    ),
    owner: described(nullable(text(200)), 'The name of the tenant whose application it is'),
    tenant: described(
      nullable(shape({ id: uuid(), slug: text(63), name: text(200) })),
      'Where it may act, or else where it acted last',
    ),
    scopes: list(text(4000), { max: 1000 }),
    has_consent: described(bool(), 'One was asked, and allowed it.'),
    is_signed_in: described(bool(), 'It has an access token or a refresh token that is good.'),
    created_at: time(),
    updated_at: time(),
    last_used_at: described(nullable(time()), 'When it was last given a token'),
  }),
);

const present = (application: Application) => ({
  client_id: application.clientId,
  name: application.name,
  kind: application.kind,
  owner: application.ownerName,
  tenant: application.tenant,
  scopes: [...application.scopes],
  has_consent: application.hasConsent,
  is_signed_in: application.isSignedIn,
  created_at: application.createdAt,
  updated_at: application.updatedAt,
  last_used_at: application.lastUsedAt,
});

/** What applications may do for a person, and its end (decision I19). */
export const applicationRoutes = (applications: ApplicationsService): RouteTable => ({
  listApplications: route({
    method: 'get',
    path: '/api/me/applications',
    permission: 'authenticated',
    clients: 'first_party',
    summary: 'The applications that act for oneself',
    description:
      'Those that one allowed, and those that one is signed in to, by name, each with its tenant and its scopes.',
    responses: { 200: success(list(AllowedApplication, { max: MOST_APPLICATIONS })) },
    async handler({ caller, reply }) {
      const allowed = await applications.list(personOf(caller));
      return reply(200, { success: true, data: allowed.map(present) });
    },
  }),
  deleteApplication: route({
    method: 'delete',
    path: '/api/me/applications/{clientId}',
    permission: 'authenticated',
    clients: 'first_party',
    resource: 'application',
    summary: 'Withdraw the consent to an application, and sign out of it',
    description:
      'Its access tokens and refresh tokens end at once. Where it needs consent, it has to ask for it again.',
    params: shape({ clientId: text(200) }),
    responses: { 200: done },
    problems: { 404: 'The application has neither consent nor tokens' },
    async handler({ caller, params, req, reply }) {
      await applications.withdraw(personOf(caller), params.clientId, originOf(req));
      return reply(200, { success: true, message: 'The application no longer has access.' });
    },
  }),
});
