import type { Configuration } from '../../deployment-automation/deployment-automation.ts';
import type { Tenant as Row } from '../../generated/prisma/client.ts';
import type { AutomationState } from './deployments.repository.ts';
import { planScaling, type Scaling, type Service } from './scaling.ts';
import type { TenantStatus } from './state-machine.ts';

export type Versions = Partial<Record<Service, string>>;

/** A tenant as shown to administrators. */
export interface Tenant {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly plan: string;
  readonly status: TenantStatus;
  readonly automationState: AutomationState;
  readonly versions: Versions;
  /** Pull request that deploys the versions. */
  readonly pullRequestUrl: string | null;
  /** The tenant's own configuration or the plan's defaults. */
  readonly scaling: Scaling;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A check constraint limits the status; versions and scaling were validated when written. */
export const tenantFromRow = (
  { scaling, ...row }: Row,
  automationState: AutomationState = 'unknown',
): Tenant => ({
  ...row,
  status: row.status as TenantStatus,
  automationState,
  versions: row.versions as Versions,
  scaling: (scaling as Scaling | null) ?? planScaling(row.plan),
});

/** The configuration sent to deployment automation. */
export const configurationOf = ({
  slug,
  name,
  plan,
  versions,
  scaling,
}: Tenant): Configuration => ({ slug, name, plan, versions, scaling });
