import type { Configuration } from '../../deployment-automation/deployment-automation.ts';
import type { Tenant as Row } from '../../generated/prisma/client.ts';
import type { AutomationState } from './deployments.repository.ts';
import { planScaling, type Scaling, type Service } from './scaling.ts';
import type { TenantStatus } from './state-machine.ts';

export type Versions = Partial<Record<Service, string>>;

/** A tenant as its administration sees it. */
export interface Tenant {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly plan: string;
  readonly status: TenantStatus;
  readonly automationState: AutomationState;
  readonly versions: Versions;
  /** The pull request that the versions come from. */
  readonly pullRequestUrl: string | null;
  /** Its own, or the plan's. */
  readonly scaling: Scaling;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A check constraint holds the status; versions and scaling were checked when they were written. */
export const tenantOf = (
  { scaling, ...row }: Row,
  automationState: AutomationState = 'unknown',
): Tenant => ({
  ...row,
  status: row.status as TenantStatus,
  automationState,
  versions: row.versions as Versions,
  scaling: (scaling as Scaling | null) ?? planScaling(row.plan),
});

/** What automation deploys a tenant as. */
export const configurationOf = ({
  slug,
  name,
  plan,
  versions,
  scaling,
}: Tenant): Configuration => ({ slug, name, plan, versions, scaling });
