import { invalidField } from '@tessera/http-kit';
import type { TenantDb } from '../../database.ts';
import type { Caller } from '../../http.ts';
import type { BulkChanges } from './bulk-jobs.ts';
import { waitingTypes } from './deliveries.repository.ts';
import type { EndpointSecrets } from './endpoint-secrets.ts';
import { requireSelection, requireTypes } from './event-permissions.ts';

/** What the rules of endpoints need. */
export interface EndpointDependencies {
  readonly secrets: EndpointSecrets;
  readonly bulk: BulkChanges;
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

/** A change of an endpoint, and the endpoint before it. */
interface EndpointContext {
  readonly caller: Caller;
  readonly db: TenantDb;
  readonly row: {
    readonly id: string;
    readonly url: string;
    readonly event_types: readonly string[];
    readonly is_enabled: boolean;
  };
}

/** What an endpoint that is enabled again forgets. */
const resumed = {
  disabled_reason: null,
  failing_since: null,
  missed_events: 0,
  missed_since: null,
} as const;

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
      requireSelection(caller, event_types, null);
      return { sealed_secrets: secrets.sealNew(id, secret) };
    },

    async update(change: Partial<NewEndpoint>, { caller, db, row }: EndpointContext) {
      const { url, event_types, is_enabled } = change;
      if (url !== undefined) checkUrl(url);
      if (url !== undefined || is_enabled) requireSelection(caller, row.event_types, row.id);
      if (event_types) requireSelection(caller, event_types, row.id);
      // What waits is sent to the new URL, also if its type is no longer selected.
      if (url !== undefined) requireTypes(caller, await waitingTypes(db, row.id), row.id);
      if (is_enabled && !row.is_enabled) return resumed;
      // Only requests to the new URL say whether it fails.
      return url !== undefined && url !== row.url ? { failing_since: null } : {};
    },

    async restore({ caller, row }: EndpointContext) {
      requireSelection(caller, row.event_types, row.id);
      return { failing_since: null };
    },
  };
};

/** Ends the deliveries of an endpoint that is disabled or deleted. */
export const followEndpoint = async (
  { bulk }: Pick<EndpointDependencies, 'bulk'>,
  { db, row }: EndpointChange,
): Promise<void> => {
  if (row.deleted_at) await bulk.stop(db, row.id, 'The endpoint was deleted.');
  else if (!row.is_enabled) await bulk.stop(db, row.id, 'The endpoint was disabled.');
};

interface EndpointChange {
  readonly db: TenantDb;
  readonly row: {
    readonly id: string;
    readonly is_enabled: boolean;
    readonly deleted_at: Date | null;
  };
}
