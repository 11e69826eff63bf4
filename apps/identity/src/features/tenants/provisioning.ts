import { setTimeout as pause } from 'node:timers/promises';
import { HttpError, type Logger } from '@tessera/http-kit';
import pLimit from 'p-limit';
import type { DeploymentAutomation } from '../../deployment-automation/deployment-automation.ts';
import type { Claim, DeploymentsRepository } from './deployments.repository.ts';
import { statusAfterDeployment } from './state-machine.ts';
import { configurationOf, type Tenant } from './tenant.ts';
import type { ExclusiveTenant, TenantsRepository } from './tenants.repository.ts';

interface ProvisioningOptions {
  readonly repository: TenantsRepository;
  readonly deployments: DeploymentsRepository;
  readonly automation: DeploymentAutomation;
  readonly logger: Logger;
  readonly everyMs: number;
}

/** Number of tenants handled concurrently, so that a slow one does not block others. */
const WORKERS = 4;
/** Maximum number of concurrent calls that hold a database connection. */
const MAX_CALLS = 2;

/**
 * Keeps tenants and deployment automation in sync (decision I24). Polls running deployments: a deployed tenant
 * becomes active, one whose deployment failed or disappeared becomes failed, and one whose deployment was
 * removed is deleted. Sends changes that automation has not accepted yet, and removes deployments whose tenant
 * was never created. The work queue is in the database, so that work continues after a restart and replicas
 * share it.
 */
export class Provisioning {
  readonly #use: ProvisioningOptions;
  readonly #calls = pLimit(MAX_CALLS);
  readonly #stopping = new AbortController();
  #ended: Promise<unknown> = Promise.resolve();

  constructor(options: ProvisioningOptions) {
    this.#use = options;
  }

  /** Starts the workers if deployment automation is configured. */
  start(): void {
    if (!this.#use.automation.isConfigured) return;
    this.#ended = Promise.all(Array.from({ length: WORKERS }, () => this.#rounds()));
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#ended;
  }

  /** Handles everything that is due. */
  async check(): Promise<void> {
    await Promise.all(Array.from({ length: WORKERS }, () => this.#work()));
  }

  /** Handles one tenant if it is due, nobody else handles it and there is capacity. */
  async handleNow(id: string): Promise<void> {
    if (this.#calls.activeCount >= MAX_CALLS) return;
    const claim = await this.#use.deployments.claim(id);
    if (claim) await this.#handle(claim);
  }

  async #rounds(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.#work().catch((err: unknown) =>
        this.#use.logger.warn({ err }, 'the deployment queue could not be read'),
      );
      await pause(this.#use.everyMs, undefined, { signal }).catch(() => undefined);
    }
  }

  async #work(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const claim = await this.#use.deployments.claim();
      if (!claim) return;
      await this.#handle(claim);
    }
  }

  /** Never rejects; failures are retried later. */
  async #handle(claim: Claim): Promise<void> {
    const { repository, deployments, logger } = this.#use;
    const { tenantId: id, attempts } = claim;
    try {
      const tenant = await repository.find(id);
      const isInProgress = tenant?.status === 'provisioning' || tenant?.status === 'deleting';
      if (isInProgress) await this.#settle(tenant, claim);
      else
        await this.#calls(() =>
          repository.exclusively(id, (exclusive) => this.#sync(id, exclusive)),
        );
    } catch (err) {
      // Another process is syncing the tenant, or leaves it to the next attempt.
      const isTaken = err instanceof HttpError && err.status === 409;
      if (!isTaken)
        logger.warn(
          { err, tenant_id: id, attempts },
          'syncing with deployment automation failed; it will be retried',
        );
      await deployments.retryLater(claim).catch(() => undefined);
    }
  }

  async #settle(tenant: Tenant, claim: Claim): Promise<void> {
    const { automation, repository, deployments, logger } = this.#use;
    const { id, status, updatedAt } = tenant;
    const deployment = await automation.status(id);
    const next = statusAfterDeployment(status, deployment?.state ?? null);
    if (next === null) return deployments.pollLater(claim, updatedAt);
    await repository.changing(id, async (locked) => {
      if (locked.tenant.updatedAt.getTime() !== updatedAt.getTime()) return;
      if (next === 'gone') await locked.remove();
      else await locked.settle(next);
    });
    logger.info({ tenant_id: id, status: next }, 'a deployment has finished');
  }

  async #sync(id: string, exclusive: ExclusiveTenant): Promise<void> {
    const { automation, logger } = this.#use;
    const { tenant } = exclusive;
    if (!tenant) {
      await automation.delete({ id, updatedAt: new Date(0) });
      await exclusive.deleteRecord();
      logger.warn({ tenant_id: id }, 'a deployment without a tenant was removed');
      return;
    }
    const { status, automationState } = tenant;
    if (automationState !== 'pending') return exclusive.recordSettled();
    if (status === 'suspended') await automation.suspend(tenant, configurationOf(tenant));
    if (status === 'active') await automation.create(tenant, configurationOf(tenant));
    await exclusive.recordSynced();
  }
}
