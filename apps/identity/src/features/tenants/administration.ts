import type { Logger } from '@tessera/http-kit';
import type { Pool } from 'pg';
import type { Config } from '../../config.ts';
import { Crm } from '../../crm/crm.ts';
import type { Database } from '../../database.ts';
import { DeploymentAutomation } from '../../deployment-automation/deployment-automation.ts';
import { type ServiceHealth, serviceHealth } from '../service-health/service-health.service.ts';
import { DeploymentsRepository } from './deployments.repository.ts';
import { Provisioning } from './provisioning.ts';
import type { TenantCreation } from './tenant-creation.ts';
import { TenantsRepository } from './tenants.repository.ts';
import { TenantsService } from './tenants.service.ts';

interface Dependencies {
  readonly config: Config;
  readonly pool: Pool;
  readonly database: Database;
  readonly logger: Logger;
  readonly creation: TenantCreation;
}

/** What the administration of tenants is made of. */
export interface TenantAdministration {
  readonly tenants: TenantsService;
  readonly crm: Crm;
  health(): Promise<ServiceHealth[]>;
  /** Looks after tenants that are being deployed. */
  readonly provisioning: Provisioning;
}

/** A change has to end, whatever it waits for: this much later than what it asks of others. */
const BESIDES_MS = 5000;

/** Makes its parts once. */
export const createTenantAdministration = (use: Dependencies): TenantAdministration => {
  const { config, pool, database, logger, creation } = use;
  const automation = new DeploymentAutomation(config.deploymentAutomation);
  const crm = new Crm(config.crm);
  /** Three calls at most: one that fails, one that makes the tenant known, and the first once more. */
  const timeout = 3 * (config.deploymentAutomation?.timeoutMs ?? 0) + BESIDES_MS;
  const everyMs = config.provisioningCheck * 1000;
  const deployments = new DeploymentsRepository({
    database,
    leaseMs: timeout + BESIDES_MS,
    everyMs,
  });
  const repository = new TenantsRepository({ database, creation, deployments, timeout });
  const provisioning = new Provisioning({ repository, deployments, automation, logger, everyMs });
  const hasBroker = config.kafkaBrokers.length > 0;
  return {
    tenants: new TenantsService({ repository, deployments, automation, provisioning }),
    crm,
    health: () => serviceHealth({ pool, crm, automation, hasBroker }),
    provisioning,
  };
};
