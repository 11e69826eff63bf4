import { type CrmPermission, crmPermission } from '@tessera/contracts';
import { type ErrorExample, permissionDenied, permissionsOf } from '@tessera/http-kit';
import { identityUnavailable, invalidToken } from '@tessera/resource-server';
import { BOT, botTokenInvalid } from './bots/bot-access.ts';
import { storageFull } from './files/file-limits.ts';
import { SYSTEM, systemTokenMissing } from './system/system-access.ts';

const id = '019aa0f5-7c1e-7a52-9d3b-5f0c2a8e4b61';

/** Examples of CRM's own error responses for its OpenAPI document. */
export const crmErrorExample: ErrorExample = (status, route) => {
  const isSystem = route.credential === SYSTEM;
  const isBot = route.credential === BOT;
  const [permission] = permissionsOf(route);
  if (status === 401 && isBot) return botTokenInvalid();
  if (status === 401) return isSystem ? systemTokenMissing() : invalidToken();
  if (status === 503 && !isSystem && !isBot && route.permission !== 'public')
    return identityUnavailable('1');
  if (status === 507) return storageFull(undefined);
  if (status !== 403 || isSystem || permission === undefined) return undefined;
  const { resource = null } = route;
  const resourceId = resource !== null && route.path.includes('{') ? id : null;
  return permissionDenied(crmPermission('acme', permission as CrmPermission), {
    resourceType: resource,
    resourceId,
    userId: id,
  });
};
