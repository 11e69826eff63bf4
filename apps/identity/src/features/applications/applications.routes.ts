import { list, named, nullable, shape, text, time, uuid } from '@tessera/fields';
import type { RouteTable } from '@tessera/http-kit';
import { personOf } from '../../access.ts';
import { done, route, success } from '../../http.ts';
import { originOf } from '../../origin.ts';
import type { Application } from './applications.repository.ts';
import { type ApplicationsService, MOST_APPLICATIONS } from './applications.service.ts';

const AllowedApplication = named(
  'AllowedApplication',
  shape({
    client_id: text(200),
    name: text(200),
    tenant: nullable(shape({ id: uuid(), slug: text(63), name: text(200) })),
    scopes: list(text(4000), { max: 1000 }),
    created_at: time(),
    updated_at: time(),
  }),
);

const present = ({ clientId, client, tenant, scopes, createdAt, updatedAt }: Application) => ({
  client_id: clientId,
  name: client.name,
  tenant: tenant && { id: tenant.id, slug: tenant.slug, name: tenant.name },
  scopes: [...scopes],
  created_at: createdAt,
  updated_at: updatedAt,
});

/** What a person allowed other applications to do, and its end (decision I19). */
export const applicationRoutes = (applications: ApplicationsService): RouteTable => ({
  listApplications: route({
    method: 'get',
    path: '/api/me/applications',
    permission: 'authenticated',
    clients: 'first_party',
    summary: 'The applications that one allowed to act for oneself',
    description:
      'Those that asked for consent, by name, each with the tenant and the scopes that it was allowed.',
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
    summary: 'Withdraw the consent to an application',
    description:
      'Its access tokens and refresh tokens end at once. It has to ask for consent again.',
    params: shape({ clientId: text(200) }),
    responses: { 200: done },
    problems: { 404: 'No consent was given to this application' },
    async handler({ caller, params, req, reply }) {
      await applications.withdraw(personOf(caller), params.clientId, originOf(req));
      return reply(200, { success: true, message: 'The application no longer has access.' });
    },
  }),
});
