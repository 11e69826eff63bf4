import {
  type CrmEventResource,
  type CrmPermission,
  crmEventResourceNames,
  crmEventTypesOf,
  crmPermissions,
} from '@tessera/contracts';
import type { Caller } from '../../http.ts';
import { requirePermission } from '../../records/require-permission.ts';
import { selectedResources } from './event-selectors.ts';

/** Resources whose events need another permission than that to see them or what they are a part of. */
const others: Readonly<Partial<Record<CrmEventResource, CrmPermission>>> = {
  'chat.channel_bots': 'chat.bots.view',
  // No permission shows accounts: the operator sets them up. Their events are about the settings of the tenant.
  messaging_accounts: 'settings.view',
};

/** The permissions to see the records of a resource, or of the resource that it is a part of. */
const permissionsOf = (resource: CrmEventResource): readonly CrmPermission[] => {
  const segments = resource.split('.');
  const names = segments.map((_, index) => segments.slice(0, segments.length - index).join('.'));
  const found =
    others[resource] ??
    names
      .map((name) => `${name}.view` as CrmPermission)
      .find((permission) => Object.hasOwn(crmPermissions, permission));
  // Whoever adds a resource decides who may receive its events; CRM does not start without that.
  if (found === undefined) throw new Error(`No permission is known for events of ${resource}.`);
  return segments[0] === 'chat' ? ['chat.access', found] : [found];
};

/** The permissions that the events of each resource need. */
export const eventPermissions: ReadonlyMap<CrmEventResource, readonly CrmPermission[]> = new Map(
  crmEventResourceNames.map((resource) => [resource, permissionsOf(resource)]),
);

const resourceOfType: ReadonlyMap<string, CrmEventResource> = new Map(
  crmEventResourceNames.flatMap((resource) =>
    crmEventTypesOf(resource).map((type) => [type, resource] as const),
  ),
);

/** The event that tests an endpoint; it contains no record. */
export const TEST_EVENT = 'webhook.test';

const needed = (resources: readonly CrmEventResource[]): ReadonlySet<CrmPermission> =>
  new Set(resources.flatMap((one) => eventPermissions.get(one) ?? []));

/** The resources of a type of events. Types that no longer exist need everything. */
const resourcesOf = (type: string): readonly CrmEventResource[] => {
  if (type === TEST_EVENT) return [];
  const resource = resourceOfType.get(type);
  return resource === undefined ? crmEventResourceNames : [resource];
};

/** Whether the caller may see the records of a type of events. */
export const maySeeType = (caller: Caller, type: string): boolean =>
  [...needed(resourcesOf(type))].every((permission) => caller.can(permission));

const requireAll = (
  caller: Caller,
  resources: readonly CrmEventResource[],
  id: string | null,
): void => {
  for (const permission of needed(resources)) {
    requirePermission(caller, permission, { type: 'webhook endpoint', id });
  }
};

/** 403 unless the caller may see the records whose events are selected: events contain what the records contain. */
export const requireSelection = (
  caller: Caller,
  selectors: readonly string[],
  id: string | null,
): void => requireAll(caller, selectedResources(selectors), id);

/** 403 unless the caller may see the records of these types of events. */
export const requireTypes = (caller: Caller, types: readonly string[], id: string): void =>
  requireAll(caller, types.flatMap(resourcesOf), id);
