import type { Database, Transaction } from '../../database.ts';

/**
 * What deployment automation knows about a tenant: `unknown`: nothing; `pending`: a change must still be sent;
 * `told`: it has accepted the last change (decision I24).
 */
export const automationStates = ['unknown', 'pending', 'told'] as const;
export type AutomationState = (typeof automationStates)[number];

/** A tenant, or an unfinished creation of one, that this process handles until `dueAt`. */
export interface Claim {
  readonly tenantId: string;
  /** Consecutive attempts, including this one. */
  readonly attempts: number;
}

interface Options {
  readonly database: Database;
  /** Maximum duration of an attempt in milliseconds. */
  readonly leaseMs: number;
  /** Milliseconds until the second attempt; the delay doubles with each further attempt. */
  readonly everyMs: number;
}

const MAX_RETRY_DELAY_MS = 600_000;
/** A running deployment is polled after a tenth of its age, but at least this often. */
const MAX_POLL_INTERVAL_MS = 60_000;
const POLLS_PER_AGE = 10;

/**
 * The work queue of deployment automation. Claiming an item sets its next due time first, so that nothing is
 * lost if the process is killed and replicas take other items.
 */
export class DeploymentsRepository {
  readonly #use: Options;

  constructor(options: Options) {
    this.#use = options;
  }

  /** Records in its own transaction that a tenant is about to be created. */
  async recordIntent(tenantId: string): Promise<void> {
    await this.#use.database.$executeRaw`
      INSERT INTO identity.tenant_deployments (tenant_id, due_at)
      VALUES (${tenantId}::uuid, now() + ${this.#use.leaseMs} * interval '1 ms')`;
  }

  /** Makes the deployment of a tenant that was not created due for removal. */
  async scheduleCleanup(tenantId: string): Promise<void> {
    await this.#use.database.$executeRaw`
      UPDATE identity.tenant_deployments SET due_at = now() WHERE tenant_id = ${tenantId}::uuid`;
  }

  /** Deletes the record of a creation that did not start. */
  async deleteRecord(tenantId: string): Promise<void> {
    await this.#use.database.tenantDeployment.deleteMany({ where: { tenantId } });
  }

  /**
   * Claims the next due item, or that of this tenant; null if none is due. Items with the fewest failures come
   * first, then those that have waited longest, so that failing items do not block others.
   */
  async claim(tenantId?: string): Promise<Claim | null> {
    const [claimed] = await this.#use.database.$queryRaw<Claim[]>`
      UPDATE identity.tenant_deployments SET attempts = attempts + 1,
        due_at = now() + ${this.#use.leaseMs} * interval '1 ms'
      WHERE tenant_id = (
        SELECT tenant_id FROM identity.tenant_deployments
        WHERE due_at <= now() AND (${tenantId ?? null}::uuid IS NULL OR tenant_id = ${tenantId ?? null}::uuid)
        ORDER BY attempts, due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
      RETURNING tenant_id AS "tenantId", attempts`;
    return claimed ?? null;
  }

  /** Schedules a retry with exponential backoff, up to ten minutes. */
  async retryLater({ tenantId, attempts }: Claim): Promise<void> {
    const wait = Math.min(this.#use.everyMs * 2 ** Math.min(attempts, 16), MAX_RETRY_DELAY_MS);
    await this.#use.database.$executeRaw`
      UPDATE identity.tenant_deployments SET due_at = now() + ${wait} * interval '1 ms'
      WHERE tenant_id = ${tenantId}::uuid AND attempts = ${attempts} AND due_at IS NOT NULL`;
  }

  /** Schedules the next poll of a running deployment; the interval grows with its age. */
  async pollLater({ tenantId, attempts }: Claim, since: Date): Promise<void> {
    const age = Date.now() - since.getTime();
    const wait = Math.min(Math.max(age / POLLS_PER_AGE, this.#use.everyMs), MAX_POLL_INTERVAL_MS);
    await this.#use.database.$executeRaw`
      UPDATE identity.tenant_deployments
      SET attempts = 0, due_at = now() + ${Math.round(wait)} * interval '1 ms'
      WHERE tenant_id = ${tenantId}::uuid AND attempts = ${attempts}`;
  }

  /** What automation knows about these tenants, by id. */
  async statesOf(tenantIds: readonly string[]): Promise<ReadonlyMap<string, AutomationState>> {
    const rows = await this.#use.database.tenantDeployment.findMany({
      where: { tenantId: { in: [...tenantIds] } },
      select: { tenantId: true, state: true },
    });
    return new Map(rows.map(({ tenantId, state }) => [tenantId, state as AutomationState]));
  }
}

/** Queues the tenant's state to be sent to automation after the commit, with retries. */
export const queueSync = async (tx: Transaction, tenantId: string): Promise<void> => {
  await tx.$executeRaw`
    INSERT INTO identity.tenant_deployments (tenant_id, state, revision, due_at)
    VALUES (${tenantId}::uuid, 'pending', 1, now())
    ON CONFLICT (tenant_id) DO UPDATE
    SET state = 'pending', revision = tenant_deployments.revision + 1, attempts = 0, due_at = now()`;
};

/**
 * Records that automation has accepted the tenant's state at this revision. A later state must still be sent.
 * From then on, a running deployment is polled.
 */
export const recordSynced = async (
  tx: Transaction,
  tenantId: string,
  revision: number,
): Promise<void> => {
  await tx.$executeRaw`
    UPDATE identity.tenant_deployments d SET state = 'told', attempts = 0,
      due_at = CASE WHEN t.status IN ('provisioning', 'deleting') THEN now() END
    FROM identity.tenants t
    WHERE d.tenant_id = ${tenantId}::uuid AND d.revision = ${revision} AND t.id = d.tenant_id`;
};

/** Stops polling the tenant; a pending change is still sent. */
export const recordSettled = async (tx: Transaction, tenantId: string): Promise<void> => {
  await tx.$executeRaw`
    UPDATE identity.tenant_deployments
    SET attempts = 0, due_at = CASE WHEN state = 'pending' THEN now() END
    WHERE tenant_id = ${tenantId}::uuid`;
};

/**
 * Locks the record of a tenant's creation until the transaction ends; false if it is already being removed.
 */
export const lockIntent = async (tx: Transaction, tenantId: string): Promise<boolean> => {
  const locked = await tx.$queryRaw<unknown[]>`
    SELECT FROM identity.tenant_deployments
    WHERE tenant_id = ${tenantId}::uuid AND attempts = 0 FOR UPDATE`;
  return locked.length > 0;
};

/** The number of changes of the tenant's state so far. */
export const revisionOf = async (tx: Transaction, tenantId: string): Promise<number> => {
  const row = await tx.tenantDeployment.findUnique({ where: { tenantId } });
  return row?.revision ?? 0;
};
