import { setTimeout as pause } from 'node:timers/promises';
import { HttpError, type Logger } from '@tessera/http-kit';
import pLimit from 'p-limit';
import type { DeploymentAutomation } from '../../deployment-automation/deployment-automation.ts';
import type { Claim, DeploymentsRepository } from './deployments.repository.ts';
import { settled } from './state-machine.ts';
import { configurationOf, type Tenant } from './tenant.ts';
import type { TenantsRepository, Turn } from './tenants.repository.ts';

interface ProvisioningOptions {
  readonly repository: TenantsRepository;
  readonly deployments: DeploymentsRepository;
  readonly automation: DeploymentAutomation;
  readonly logger: Logger;
  readonly everyMs: number;
}

/** So many tenants are attended to at once: one that automation is slow about holds up no other. */
const WORKERS = 4;
/** What tells automation holds a connection to the database for as long: so few of those are needed. */
const TOLD_AT_ONCE = 2;

/**
 * Looks after what deployment automation is to do, or is doing (decision I24). It asks how far deployments
 * are: one that is deployed makes its tenant active, one that failed or is gone makes it failed, and a
 * tenant whose deployment was taken down is gone. It tells automation of changes that it has not heard of,
 * and takes back deployments whose tenant was never created. All of it is in the database, so that it goes
 * on after a restart, and replicas share the work.
 */
export class Provisioning {
  readonly #use: ProvisioningOptions;
  readonly #telling = pLimit(TOLD_AT_ONCE);
  readonly #stopping = new AbortController();
  #ended: Promise<unknown> = Promise.resolve();

  constructor(options: ProvisioningOptions) {
    this.#use = options;
  }

  /** Starts the rounds, where there is anybody to ask. */
  start(): void {
    if (!this.#use.automation.isConfigured) return;
    this.#ended = Promise.all(Array.from({ length: WORKERS }, () => this.#rounds()));
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#ended;
  }

  /** Attends to everything that is due. */
  async check(): Promise<void> {
    await Promise.all(Array.from({ length: WORKERS }, () => this.#work()));
  }

  /** Attends to one tenant where that is due and nobody else does, and there is room to do it now. */
  async attendNow(id: string): Promise<void> {
    if (this.#telling.activeCount >= TOLD_AT_ONCE) return;
    const claim = await this.#use.deployments.claim(id);
    if (claim) await this.#attend(claim);
  }

  async #rounds(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.#work().catch((err: unknown) =>
        this.#use.logger.warn({ err }, 'deployments could not be read'),
      );
      await pause(this.#use.everyMs, undefined, { signal }).catch(() => undefined);
    }
  }

  async #work(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const claim = await this.#use.deployments.claim();
      if (!claim) return;
      await this.#attend(claim);
    }
  }

  /** Never rejects: what fails is tried again later. */
  async #attend(claim: Claim): Promise<void> {
    const { repository, deployments, logger } = this.#use;
    const { tenantId: id, attempts } = claim;
    try {
      const tenant = await repository.find(id);
      const isWorkedOn = tenant?.status === 'provisioning' || tenant?.status === 'deleting';
      if (isWorkedOn) await this.#settle(tenant, claim);
      else await this.#telling(() => repository.inTurn(id, (turn) => this.#tell(id, turn)));
    } catch (err) {
      // Who else has the turn tells it, or leaves it to the next attempt.
      const isTaken = err instanceof HttpError && err.status === 409;
      if (!isTaken) logger.warn({ err, tenant_id: id, attempts }, 'deployment automation waits');
      await deployments.retryLater(claim).catch(() => undefined);
    }
  }

  async #settle(tenant: Tenant, claim: Claim): Promise<void> {
    const { automation, repository, deployments, logger } = this.#use;
    const { id, status, updatedAt } = tenant;
    const deployment = await automation.status(id);
    const next = settled(status, deployment?.state ?? null);
    if (next === null) return deployments.askLater(claim, updatedAt);
    await repository.changing(id, async (held) => {
      if (held.tenant.updatedAt.getTime() !== updatedAt.getTime()) return;
      if (next === 'gone') await held.remove();
      else await held.settle(next);
    });
    logger.info({ tenant_id: id, status: next }, 'deployment automation is done with a tenant');
  }

  async #tell(id: string, turn: Turn): Promise<void> {
    const { automation, logger } = this.#use;
    const { tenant } = turn;
    if (!tenant) {
      await automation.delete({ id, updatedAt: new Date(0) });
      await turn.forget();
      logger.warn({ tenant_id: id }, 'a deployment without a tenant was taken back');
      return;
    }
    const { status, automationState } = tenant;
    if (automationState !== 'pending') return turn.nothingToTell();
    if (status === 'suspended') await automation.suspend(tenant, configurationOf(tenant));
    if (status === 'active') await automation.create(tenant, configurationOf(tenant));
    await turn.told();
  }
}
