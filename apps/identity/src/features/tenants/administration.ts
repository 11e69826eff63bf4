import type { Logger } from '@tessera/http-kit';
import type { Pool } from 'pg';
import type { Config } from '../../config.ts';
import { Crm } from '../../crm/crm.ts';
import type { Database } from '../../database.ts';
import { DeploymentAutomation } from '../../deployment-automation/deployment-automation.ts';
import { sendsMail } from '../../mail/mail.ts';
import type { MailOutbox } from '../../mail/outbox.ts';
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
  readonly mail: MailOutbox;
  readonly creation: TenantCreation;
}

/** The parts of tenant administration. */
export interface TenantAdministration {
  readonly tenants: TenantsService;
  readonly crm: Crm;
  health(): Promise<ServiceHealth[]>;
  /** Tracks tenants that are being deployed. */
  readonly provisioning: Provisioning;
}

/** Time limit of a change in addition to that of its calls. */
const MARGIN_MS = 5000;

/** Creates the parts of tenant administration. */
export const createTenantAdministration = (dependencies: Dependencies): TenantAdministration => {
  const { config, pool, database, logger, mail, creation } = dependencies;
  const automation = new DeploymentAutomation(config.deploymentAutomation);
  const crm = new Crm(config.crm);
  /**
   * At most three calls: one that fails, one that registers the tenant, and a retry of the first.
   */
  const timeout = 3 * (config.deploymentAutomation?.timeoutMs ?? 0) + MARGIN_MS;
  const everyMs = config.provisioningCheck * 1000;
  const deployments = new DeploymentsRepository({
    database,
    leaseMs: timeout + MARGIN_MS,
    everyMs,
  });
  const repository = new TenantsRepository({ database, creation, deployments, timeout });
  const provisioning = new Provisioning({ repository, deployments, automation, logger, everyMs });
  const hasBroker = config.kafkaBrokers.length > 0;
  return {
    tenants: new TenantsService({ repository, deployments, automation, provisioning }),
    crm,
    health: () =>
      serviceHealth({
        pool,
        crm,
        automation,
        hasBroker,
        mail,
        sendsMail: sendsMail(config.mail),
      }),
    provisioning,
  };
};
