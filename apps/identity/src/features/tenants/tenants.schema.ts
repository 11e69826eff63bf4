import type { DeploymentPayload } from '@tessera/contracts';
import {
  clamped,
  described,
  list,
  matching,
  named,
  nullable,
  omittedIfBlank,
  oneOf,
  optional,
  partial,
  shape,
  text,
  time,
  url,
  uuid,
  withDefault,
} from '@tessera/fields';
import { invalidField } from '@tessera/http-kit';
import { pageFields } from '../../http/route.ts';
import { searchWords } from '../../lists/search.ts';
import { automationStates } from './deployments.repository.ts';
import { planNames, services } from './scaling.ts';
import { tenantStatuses } from './state-machine.ts';
import type { Tenant as TenantRecord } from './tenant.ts';
import type { SortColumn, TenantQuery } from './tenants.repository.ts';

export const TenantParams = shape({ tenantId: uuid() });

const slug = () =>
  described(
    matching(
      /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/,
      'lower-case letters, digits and dashes between them',
      63,
    ),
    'Used in permissions, addresses and the client id',
    'acme',
  );

const version = () =>
  described(matching(/^[A-Za-z0-9][A-Za-z0-9._+-]*$/, 'a version', 100), 'Version tag', '1.4.2');
const Versions = named(
  'TenantVersions',
  partial(shape({ api: version(), worker: version(), scheduler: version(), websocket: version() })),
);

const pullRequest = () =>
  described(
    url(2000),
    'Pull request that deploys the versions',
    'https://git.example.com/acme/deployments/pull/7',
  );

export const Tenant = named(
  'Tenant',
  shape({
    id: uuid(),
    slug: text(63),
    name: text(200),
    plan: text(100),
    status: oneOf(...tenantStatuses),
    automation_state: described(
      oneOf(...automationStates),
      'What deployment automation knows about the tenant: `unknown`: nothing; `pending`: a status change must still be sent; `told`: it has accepted the last change',
    ),
    versions: Versions,
    pr_url: nullable(pullRequest()),
    created_at: time(),
    updated_at: time(),
  }),
);

export const NewTenant = named(
  'NewTenant',
  shape({
    name: text(200),
    slug: described(
      optional(slug()),
      'Derived from the name if absent, with a number if that is taken',
    ),
    plan: withDefault(oneOf(...planNames), 'starter'),
  }),
);

/** A new tenant with its client; the secret is shown only once. */
export const CreatedTenant = named(
  'CreatedTenant',
  shape({
    ...Tenant.fields,
    client: shape({ client_id: text(100), client_secret: text(100) }),
  }),
);

export const VersionsUpdate = named(
  'TenantVersionsUpdate',
  shape({
    versions: Versions,
    prUrl: omittedIfBlank(nullable(pullRequest())),
    pr_url: described(
      omittedIfBlank(nullable(pullRequest())),
      'Used if `prUrl` is absent, null or blank',
    ),
  }),
);

export const ProvisioningStatus = named(
  'ProvisioningStatus',
  shape({
    tenant_id: uuid(),
    status: oneOf(...tenantStatuses),
    state: described(nullable(text(20)), 'State of the deployment; null if there is none'),
    steps: list(
      shape({
        name: text(200),
        state: oneOf('pending', 'running', 'done', 'failed'),
        message: optional(text(1000)),
      }),
    ),
  }),
);

export const TenantServices = named(
  'TenantServices',
  shape({
    tenant_id: uuid(),
    slug: text(63),
    status: oneOf(...tenantStatuses),
    services: list(
      shape({
        service: oneOf(...services),
        version: described(nullable(version()), 'Null if never set'),
        min_replicas: clamped(0, 100),
        max_replicas: clamped(1, 100),
      }),
    ),
  }),
);

const SORTS = [
  ...(['name', '-name', 'slug', '-slug', 'plan', '-plan'] as const),
  ...(['status', '-status', 'created_at', '-created_at'] as const),
] as const;

const columns: Readonly<Record<string, SortColumn>> = {
  name: 'name',
  slug: 'slug',
  plan: 'plan',
  status: 'status',
  created_at: 'createdAt',
};

export const ListQuery = shape({
  ...pageFields,
  search: optional(searchWords()),
  status: optional(oneOf(...tenantStatuses)),
  sort: withDefault(oneOf(...SORTS), 'name'),
});

/** Converts query parameters to a `TenantQuery`. */
export const queryOf = (query: {
  readonly page: number;
  readonly per_page: number;
  readonly search?: string;
  readonly status?: TenantQuery['status'];
  readonly sort: string;
}): TenantQuery => ({
  page: query.page,
  perPage: query.per_page,
  search: query.search,
  status: query.status,
  sort: {
    by: columns[query.sort.replace('-', '')] ?? 'name',
    order: query.sort.startsWith('-') ? 'desc' : 'asc',
  },
});

/** The response payload of a tenant. */
export const present = (tenant: TenantRecord) => ({
  id: tenant.id,
  slug: tenant.slug,
  name: tenant.name,
  plan: tenant.plan,
  status: tenant.status,
  automation_state: tenant.automationState,
  versions: tenant.versions,
  pr_url: tenant.pullRequestUrl,
  created_at: tenant.createdAt,
  updated_at: tenant.updatedAt,
});

/** The provisioning status; the state is null without a deployment. */
export const presentProvisioning = (
  { id, status }: TenantRecord,
  deployment: DeploymentPayload | null,
) => ({
  tenant_id: id,
  status,
  state: deployment?.state ?? null,
  steps: (deployment?.steps ?? []).map(({ name, state, message }) => {
    const trimmed = message?.trim();
    return trimmed ? { name, state, message: trimmed } : { name, state };
  }),
});

export const presentServices = ({ id, slug, status, versions, scaling }: TenantRecord) => ({
  tenant_id: id,
  slug,
  status,
  services: services.map((service) => ({
    service,
    version: versions[service] ?? null,
    min_replicas: scaling[service].min_replicas,
    max_replicas: scaling[service].max_replicas,
  })),
});

/** 422 if no service is given. */
export const requireVersions = <V extends object>(versions: V): V => {
  if (Object.keys(versions).length > 0) return versions;
  throw invalidField('versions', `versions must name one of ${services.join(', ')}`);
};
