import type { Action } from '../../activity/actions.ts';
import { type Actor, note } from '../../activity/activity.ts';
import type { Transaction } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { enqueue } from '../../outbox/outbox.ts';
import { noteSettled, noteTold, tellAutomation } from './deployments.repository.ts';
import type { TenantStatus } from './state-machine.ts';
import { type Tenant, tenantOf } from './tenant.ts';

/** Who did what, for the activity log; nobody's where a system application did it. */
export interface Deed {
  readonly actor: Actor | null;
  readonly action: Action;
}

/** The event that tells of a tenant's status. */
export const statusChanged = (id: string, status: TenantStatus | 'gone') =>
  ({ type: 'identity.tenant.status_changed', data: { tenant_id: id, status } }) as const;

/** A tenant that nobody else changes until the transaction ends. */
export class TenantInTransaction {
  readonly #tx: Transaction;
  readonly tenant: Tenant;

  constructor(tx: Transaction, tenant: Tenant) {
    this.#tx = tx;
    this.tenant = tenant;
  }

  /** Moves it as automation has accepted when the tenant was at this revision. */
  async moveAsTold(status: TenantStatus, revision: number, deed: Deed): Promise<Tenant> {
    await this.#update({ status });
    await noteTold(this.#tx, this.tenant.id, revision);
    return this.#moved(status, deed);
  }

  /** Moves it at once; automation is told after the commit, until it hears. */
  async moveAndTell(status: TenantStatus, deed: Deed): Promise<Tenant> {
    await this.#update({ status });
    await tellAutomation(this.#tx, this.tenant.id);
    return this.#moved(status, deed);
  }

  /** Moves it to where automation says that it is. */
  async settle(status: TenantStatus): Promise<Tenant> {
    await this.#update({ status });
    await noteSettled(this.#tx, this.tenant.id);
    return this.#moved(status);
  }

  /** Changes what is no state of it, and notes it. */
  async change(
    data: Pick<Prisma.TenantUpdateInput, 'versions' | 'pullRequestUrl' | 'scaling'>,
    deed: Deed,
  ): Promise<Tenant> {
    await this.#update(data);
    await this.#note(deed);
    return this.#reread();
  }

  /** Takes it away with all that is its: service accounts, memberships, roles, tokens, clients. */
  async remove(): Promise<void> {
    const { id } = this.tenant;
    await this.#tx.user.deleteMany({
      where: { isServiceAccount: true, memberships: { some: { tenantId: id } } },
    });
    await this.#tx.tenant.delete({ where: { id } });
    await this.#tx.tenantDeployment.deleteMany({ where: { tenantId: id } });
    await enqueue(this.#tx, statusChanged(id, 'gone'));
  }

  async #moved(status: TenantStatus, deed?: Deed): Promise<Tenant> {
    await this.#note(deed);
    await enqueue(this.#tx, statusChanged(this.tenant.id, status));
    return this.#reread();
  }

  async #update(data: Prisma.TenantUpdateInput): Promise<void> {
    await this.#tx.tenant.update({ where: { id: this.tenant.id }, data });
  }

  async #reread(): Promise<Tenant> {
    const tenant = await findTenant(this.#tx, this.tenant.id);
    if (!tenant) throw new Error(`Tenant ${this.tenant.id} is gone while it is held.`);
    return tenant;
  }

  async #note(deed: Deed | undefined): Promise<void> {
    if (deed?.actor) await note(this.#tx, { ...deed.actor, tenantId: this.tenant.id }, deed.action);
  }
}

/** The tenant with what automation has heard of it; null where there is none. */
export const findTenant = async (
  db: Pick<Transaction, 'tenant' | 'tenantDeployment'>,
  id: string,
): Promise<Tenant | null> => {
  const row = await db.tenant.findUnique({ where: { id } });
  if (!row) return null;
  const deployment = await db.tenantDeployment.findUnique({ where: { tenantId: id } });
  return tenantOf(row, deployment?.state as Tenant['automationState'] | undefined);
};

/** No configuration of its own, in the column that holds one. */
export const NO_SCALING = Prisma.DbNull;
