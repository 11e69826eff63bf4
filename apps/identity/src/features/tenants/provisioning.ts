import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '@tessera/http-kit';
import type { DeploymentAutomation } from '../../deployment-automation/deployment-automation.ts';
import { settled } from './state-machine.ts';
import type { Tenant, TenantsRepository } from './tenants.repository.ts';

interface ProvisioningOptions {
  readonly repository: TenantsRepository;
  readonly automation: DeploymentAutomation;
  readonly logger: Logger;
  readonly everyMs: number;
}

/** Most tenants of one round. */
const MOST = 100;

/**
 * Looks after the tenants that deployment automation is working on: asks, round after round, how far they
 * are. One that is deployed becomes active, one that failed failed, and one that is taken down is gone.
 * Replicas may ask twice: a tenant is settled once, because its row is held and must be as it was when it
 * was asked about.
 */
export class Provisioning {
  readonly #use: ProvisioningOptions;
  readonly #stopping = new AbortController();
  #ended: Promise<void> = Promise.resolve();

  constructor(options: ProvisioningOptions) {
    this.#use = options;
  }

  /** Starts the rounds, where there is anybody to ask. */
  start(): void {
    if (this.#use.automation.isConfigured) this.#ended = this.#rounds();
  }

  stop(): Promise<void> {
    this.#stopping.abort();
    return this.#ended;
  }

  /** Asks about each tenant once, and settles those that are done. */
  async check(): Promise<void> {
    const { repository, logger } = this.#use;
    for (const tenant of await repository.unsettled(MOST)) {
      if (this.#stopping.signal.aborted) return;
      await this.#settle(tenant).catch((err: unknown) =>
        logger.warn({ err, tenant_id: tenant.id }, 'how far a tenant is cannot be told now'),
      );
    }
  }

  async #settle({ id, status, updatedAt }: Tenant): Promise<void> {
    const { automation, repository, logger } = this.#use;
    const deployment = await automation.status(id);
    const next = settled(status, deployment?.state ?? null);
    if (next === null) return;
    await repository.changing(id, async (held) => {
      if (held.tenant.updatedAt.getTime() !== updatedAt.getTime()) return;
      if (next === 'gone') await held.remove();
      else await held.move(next);
    });
    logger.info({ tenant_id: id, status: next }, 'deployment automation is done with a tenant');
  }

  async #rounds(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await pause(this.#use.everyMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      await this.check().catch((err: unknown) =>
        this.#use.logger.warn({ err }, 'tenants could not be read'),
      );
    }
  }
}
