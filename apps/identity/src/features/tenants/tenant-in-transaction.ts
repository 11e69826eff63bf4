import type { Action } from '../../activity/actions.ts';
import { type Actor, note } from '../../activity/activity.ts';
import { type Changes, changesBetween } from '../../activity/changes.ts';
import type { Transaction } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { enqueue, lockPolicyVersion } from '../../outbox/outbox.ts';
import { lockSessions } from '../../tokens/revoke.ts';
import { queueSync, recordSettled, recordSynced } from './deployments.repository.ts';
import { reserveSlug } from './slug-reservations.ts';
import type { TenantStatus } from './state-machine.ts';
import { type Tenant, tenantFromRow } from './tenant.ts';

/** The activity entry of a change; without an actor for a system application. */
export interface ActivityRecord {
  readonly actor: Actor | null;
  readonly action: Action;
}

/** What the activity log records of a tenant's configuration. */
const recorded = ({ versions, pullRequestUrl, scaling }: Tenant) => ({
  versions,
  pr_url: pullRequestUrl,
  scaling,
});

/** The event that publishes a tenant's status. */
export const statusChanged = (id: string, status: TenantStatus | 'gone') =>
  ({ type: 'identity.tenant.status_changed', data: { tenant_id: id, status } }) as const;

/** A tenant that is locked until the transaction ends. */
export class TenantInTransaction {
  readonly #tx: Transaction;
  readonly tenant: Tenant;

  constructor(tx: Transaction, tenant: Tenant) {
    this.#tx = tx;
    this.tenant = tenant;
  }

  /** Changes the status after automation has accepted it for this revision. */
  async moveAfterSync(
    status: TenantStatus,
    revision: number,
    activity: ActivityRecord,
  ): Promise<Tenant> {
    await this.#update({ status });
    await recordSynced(this.#tx, this.tenant.id, revision);
    return this.#recordStatusChange(status, activity);
  }

  /** Changes the status immediately; automation is notified after the commit, with retries. */
  async moveAndQueueSync(status: TenantStatus, activity: ActivityRecord): Promise<Tenant> {
    await this.#update({ status });
    await queueSync(this.#tx, this.tenant.id);
    return this.#recordStatusChange(status, activity);
  }

  /** Changes the status to that of the deployment. */
  async settle(status: TenantStatus): Promise<Tenant> {
    await this.#update({ status });
    await recordSettled(this.#tx, this.tenant.id);
    return this.#recordStatusChange(status);
  }

  /**
   * Changes other fields and records the activity. The time of the change is a part of the idempotency keys of
   * deployment automation and therefore set even if no field is given, for which Prisma would write nothing: the next
   * call is then another one.
   */
  async change(
    data: Pick<Prisma.TenantUpdateInput, 'versions' | 'pullRequestUrl' | 'scaling'>,
    activity: ActivityRecord,
  ): Promise<Tenant> {
    await this.#update({ updatedAt: new Date(), ...data });
    const changed = await this.#reread();
    await this.#note(activity, changesBetween(recorded(this.tenant), recorded(changed)));
    return changed;
  }

  /** Deletes the tenant with its service accounts, memberships, roles, tokens and clients. */
  async remove(): Promise<void> {
    await this.#lockContents();
    await this.#delete();
    await enqueue(this.#tx, statusChanged(this.tenant.id, 'gone'));
  }

  /**
   * As `remove`, after automation has accepted the status for this revision and has nothing left to remove.
   * Returns the tenant with that status.
   */
  async removeAfterSync(
    status: TenantStatus,
    revision: number,
    activity: ActivityRecord,
  ): Promise<Tenant> {
    const { id } = this.tenant;
    await this.#lockContents();
    await this.#update({ status });
    await recordSynced(this.#tx, id, revision);
    await this.#note(activity, this.#changeTo(status));
    const removed = await this.#reread();
    await this.#delete();
    await enqueue(this.#tx, statusChanged(id, status), statusChanged(id, 'gone'));
    return removed;
  }

  /**
   * Waits for what others are doing in the tenant, in the order in which they lock: policies, memberships, users
   * and sessions. Deleting the tenant locks all of that in another order, and would deadlock with a change of a
   * role or a renewal of a token.
   */
  async #lockContents(): Promise<void> {
    const { id } = this.tenant;
    await lockPolicyVersion(this.#tx, id);
    await this.#tx.$queryRaw`SELECT 1 FROM identity.memberships
      WHERE tenant_id = ${id}::uuid ORDER BY user_id FOR UPDATE`;
    const users = await this.#tx.$queryRaw<{ id: string }[]>`
      SELECT user_id AS id FROM identity.memberships WHERE tenant_id = ${id}::uuid
      UNION SELECT id FROM identity.users WHERE tenant_id = ${id}::uuid
      UNION SELECT s.user_id FROM identity.tokens t JOIN identity.sessions s ON s.id = t.session_id
        WHERE t.tenant_id = ${id}::uuid AND s.ended_at IS NULL`;
    await lockSessions(
      this.#tx,
      users.map((user) => user.id),
    );
  }

  async #delete(): Promise<void> {
    const { id } = this.tenant;
    await this.#tx.user.deleteMany({
      where: { isServiceAccount: true, memberships: { some: { tenantId: id } } },
    });
    await this.#tx.tenant.delete({ where: { id } });
    await reserveSlug(this.#tx, this.tenant);
    await this.#tx.tenantDeployment.deleteMany({ where: { tenantId: id } });
  }

  async #recordStatusChange(status: TenantStatus, activity?: ActivityRecord): Promise<Tenant> {
    await this.#note(activity, this.#changeTo(status));
    await enqueue(this.#tx, statusChanged(this.tenant.id, status));
    return this.#reread();
  }

  #changeTo(status: TenantStatus): Changes | undefined {
    return changesBetween({ status: this.tenant.status }, { status });
  }

  async #update(data: Prisma.TenantUpdateInput): Promise<void> {
    await this.#tx.tenant.update({ where: { id: this.tenant.id }, data });
  }

  async #reread(): Promise<Tenant> {
    const tenant = await findTenant(this.#tx, this.tenant.id);
    if (!tenant) throw new Error(`Tenant ${this.tenant.id} does not exist although it is locked.`);
    return tenant;
  }

  async #note(activity: ActivityRecord | undefined, changes: Changes | undefined): Promise<void> {
    if (!activity?.actor) return;
    const actor = { ...activity.actor, tenantId: this.tenant.id };
    await note(this.#tx, actor, activity.action, { changes });
  }
}

/** The tenant with its automation state; null if it does not exist. */
export const findTenant = async (
  db: Pick<Transaction, 'tenant' | 'tenantDeployment'>,
  id: string,
): Promise<Tenant | null> => {
  const row = await db.tenant.findUnique({ where: { id } });
  if (!row) return null;
  const deployment = await db.tenantDeployment.findUnique({ where: { tenantId: id } });
  return tenantFromRow(row, deployment?.state as Tenant['automationState'] | undefined);
};

/** Database value for a tenant without its own configuration. */
export const NO_SCALING = Prisma.DbNull;
