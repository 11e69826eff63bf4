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
import { done, onlyPage, page, route } from '../../http/route.ts';
import { originOf } from '../../origin/origin.ts';
import type { Application } from './applications.repository.ts';
import { type ApplicationsService, MAX_APPLICATIONS } from './applications.service.ts';

const AllowedApplication = named(
  'AllowedApplication',
  shape({
    client_id: text(200),
    name: text(200),
    kind: described(
      oneOf('first_party', 'tenant', 'third_party'),
      'Whether the client belongs to the platform, a tenant, or a third party',
    ),
    owner: described(nullable(text(200)), 'Name of the tenant that registered the client'),
    tenant: described(
      nullable(shape({ id: uuid(), slug: text(63), name: text(200) })),
      'The tenant of the consent, or else of the last token',
    ),
    scopes: list(text(4000), { max: 1000 }),
    has_consent: described(bool(), 'True if the user gave consent'),
    is_signed_in: described(bool(), 'True if the application has a valid access or refresh token'),
    created_at: time(),
    updated_at: time(),
    last_used_at: described(nullable(time()), 'When a token was last issued to it'),
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

export const applicationRoutes = (applications: ApplicationsService): RouteTable => ({
  listApplications: route({
    method: 'get',
    path: '/api/me/applications',
    permission: 'authenticated',
    clients: 'first_party',
    summary: 'List applications with access to your account',
    description:
      'Applications that have your consent or that you are signed in to, by name, with their tenant and scopes. All on one page.',
    responses: { 200: page(AllowedApplication, { max: MAX_APPLICATIONS }) },
    async handler({ caller, reply }) {
      const allowed = await applications.list(personOf(caller));
      return reply(200, onlyPage(allowed.map(present)));
    },
  }),
  deleteApplication: route({
    method: 'delete',
    path: '/api/me/applications/{clientId}',
    permission: 'authenticated',
    clients: 'first_party',
    resource: 'application',
    summary: 'Withdraw consent from an application and sign out of it',
    description:
      'Its access and refresh tokens are revoked immediately. An application that needs consent must ask for it again.',
    params: shape({ clientId: text(200) }),
    responses: { 200: done },
    problems: { 404: 'The application has neither consent nor tokens' },
    async handler({ caller, params, req, reply }) {
      await applications.withdraw(personOf(caller), params.clientId, originOf(req));
      return reply(200, { success: true, message: 'The application no longer has access.' });
    },
  }),
});
