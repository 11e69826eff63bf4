import { either, int, shape } from '@tessera/fields';
import { empty, type RouteTable } from '@tessera/http-kit';
import { clientNotConfigured, type ResourceServer } from '@tessera/resource-server';
import type { Database } from '../../database.ts';
import { record, route } from '../../http.ts';
import { acceptedVersions, changeProblems, tagged } from '../../records/versions.ts';
import { findSettings, updateSettings, type VersionedSettings } from './settings.repository.ts';
import { SettingsInput, TenantSettings } from './settings.schema.ts';

const SettingsVersion = shape({ version: int(1, 2 ** 31 - 1) });

const answerOf = ({ settings, updatedAt }: VersionedSettings) => ({
  data: { ...settings, updated_at: updatedAt },
});

export const settingsRoutes = (
  database: Database,
  access: Pick<ResourceServer, 'canAskRights'>,
): RouteTable => ({
  getSettings: route({
    method: 'get',
    path: '/settings',
    permission: 'settings.view',
    resource: 'settings',
    summary: 'Show the settings of the tenant',
    description: 'Settings that were never changed have their defaults.',
    responses: { 200: record(TenantSettings), 304: empty },
    requestHeaders: ['If-None-Match'],
    responseHeaders: { 200: ['ETag'] },
    problems: { 304: 'The settings are still in a version that `If-None-Match` names' },
    handler: async ({ caller, reply }) => {
      const found = await findSettings(database.forTenant(caller.tenantId));
      return reply(200, answerOf(found), tagged(found));
    },
  }),

  updateSettings: route({
    method: 'put',
    path: '/settings',
    permission: 'settings.update',
    resource: 'settings',
    summary: 'Update the settings of the tenant',
    description:
      'Settings that are left out do not change; null restores the default. Public reading can be switched on if CRM has a client at identity, which tells it whether the tenant is active. Without `settings.view`, the response has only the `version` of the settings.',
    body: SettingsInput,
    responses: { 200: record(either(TenantSettings, SettingsVersion)) },
    requestHeaders: ['If-Match'],
    responseHeaders: { 200: ['ETag'] },
    problems: changeProblems,
    handler: async ({ caller, body, req, reply }) => {
      const versions = acceptedVersions(req.get('If-Match'));
      if (body.public_reading && !access.canAskRights) throw clientNotConfigured();
      const changed = await updateSettings(database.forTenant(caller.tenantId), body, {
        slug: caller.tenantSlug,
        versions,
      });
      const { version } = changed;
      const answer = caller.can('settings.view') ? answerOf(changed) : { data: { version } };
      return reply(200, answer, tagged(changed));
    },
  }),
});
