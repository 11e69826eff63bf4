import { type CrmPermission, crmPermissions } from '@tessera/contracts';
import { invalidField } from '@tessera/http-kit';
import type { TenantDb } from '../../database.ts';
import type { Caller } from '../../http.ts';
import { requirePermission } from '../../records/require-permission.ts';
import { stopDeliveries } from './deliveries.repository.ts';
import type { EndpointSecrets } from './endpoint-secrets.ts';
import { selectedResources } from './event-selectors.ts';

/** What the rules of endpoints need. */
export interface EndpointDependencies {
  readonly secrets: EndpointSecrets;
  /** Why no request may be sent to a URL; undefined if one may. */
  readonly problemOf: (url: string) => string | undefined;
}

/** A new endpoint with its secret, which is stored encrypted. */
export interface NewEndpoint {
  readonly url: string;
  readonly description?: string | null | undefined;
  readonly contact_email?: string | null | undefined;
  readonly event_types: string[];
  readonly is_enabled: boolean;
  readonly is_ordered: boolean;
  readonly secret: string;
}

/** The permission to see the records of a resource, or of the resource that it is a part of. */
const permissionToSee = (resource: string): CrmPermission | undefined => {
  const segments = resource.split('.');
  const names = segments.map((_, index) => segments.slice(0, segments.length - index).join('.'));
  return names
    .map((name) => `${name}.view` as CrmPermission)
    .find((permission) => Object.hasOwn(crmPermissions, permission));
};

/** 403 unless the caller may see the records whose events are selected: events contain what the records contain. */
const checkSelection = (caller: Caller, selectors: readonly string[], id: string | null): void => {
  const needed = selectedResources(selectors).flatMap((one) => permissionToSee(one) ?? []);
  for (const permission of new Set(needed)) {
    requirePermission(caller, permission, { type: 'webhook endpoint', id });
  }
};

export const createEndpointRules = ({ secrets, problemOf }: EndpointDependencies) => {
  const checkUrl = (url: string): void => {
    const problem = problemOf(url);
    if (problem !== undefined) throw invalidField('url', problem);
  };

  return {
    create(
      { url, event_types, secret }: NewEndpoint,
      { id, caller }: { readonly id: string; readonly caller: Caller },
    ) {
      checkUrl(url);
      checkSelection(caller, event_types, null);
      return { sealed_secrets: secrets.sealNew(id, secret) };
    },

    update(
      change: Partial<NewEndpoint>,
      { caller, row }: { readonly caller: Caller; readonly row: { readonly id: string } },
    ) {
      if (change.url !== undefined) checkUrl(change.url);
      if (change.event_types) checkSelection(caller, change.event_types, row.id);
      return change.is_enabled ? { disabled_reason: null, failing_since: null } : {};
    },
  };
};

/** Ends the deliveries of an endpoint that is disabled or deleted. */
export const followEndpoint = async ({
  db,
  row,
}: {
  readonly db: TenantDb;
  readonly row: {
    readonly id: string;
    readonly is_enabled: boolean;
    readonly deleted_at: Date | null;
  };
}): Promise<void> => {
  if (row.deleted_at) await stopDeliveries(db, row.id, 'The endpoint was deleted.');
  else if (!row.is_enabled) await stopDeliveries(db, row.id, 'The endpoint was disabled.');
};
