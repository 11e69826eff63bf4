import type { Database, Transaction } from '../../database.ts';

/**
 * What deployment automation has heard of a tenant: `unknown`, nothing that identity knows of; `pending`,
 * a change waits to be told; `told`, it has accepted the last change (decision I24).
 */
export const automationStates = ['unknown', 'pending', 'told'] as const;
export type AutomationState = (typeof automationStates)[number];

/** A tenant, or what is left of the creation of one, that is ours to attend to until `dueAt`. */
export interface Claim {
  readonly tenantId: string;
  /** In a row, this one included. */
  readonly attempts: number;
}

interface Options {
  readonly database: Database;
  /** Milliseconds within which what was begun ends, however it ends. */
  readonly leaseMs: number;
  /** Milliseconds until the second attempt; each further one waits twice as long. */
  readonly everyMs: number;
}

const LONGEST_WAIT_MS = 600_000;
/** A deployment that takes long is asked about after a tenth of its age, but at least this often. */
const LONGEST_POLL_MS = 60_000;
const SHARE_OF_AGE = 10;

/**
 * The work list of deployment automation: which tenants to turn to, and when. A claim sets the next time
 * before anything is asked, so that nothing is lost when the process is killed, and replicas take others.
 */
export class DeploymentsRepository {
  readonly #use: Options;

  constructor(options: Options) {
    this.#use = options;
  }

  /** Notes that a tenant is about to be created, in a transaction of its own. */
  async intend(tenantId: string): Promise<void> {
    await this.#use.database.$executeRaw`
      INSERT INTO identity.tenant_deployments (tenant_id, due_at)
      VALUES (${tenantId}::uuid, now() + ${this.#use.leaseMs} * interval '1 ms')`;
  }

  /** Has a deployment without a tenant taken back soon, where there is no tenant. */
  async abandon(tenantId: string): Promise<void> {
    await this.#use.database.$executeRaw`
      UPDATE identity.tenant_deployments SET due_at = now() WHERE tenant_id = ${tenantId}::uuid`;
  }

  /** Forgets an intention that nothing came of. */
  async forget(tenantId: string): Promise<void> {
    await this.#use.database.tenantDeployment.deleteMany({ where: { tenantId } });
  }

  /**
   * The next one that is due, of all or this one; null where none is. Those that never failed come first,
   * then those that failed least, then those that wait longest: none holds up the others.
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

  /** Puts off what failed: twice as long as the last time, up to ten minutes. */
  async retryLater({ tenantId, attempts }: Claim): Promise<void> {
    const wait = Math.min(this.#use.everyMs * 2 ** Math.min(attempts, 16), LONGEST_WAIT_MS);
    await this.#use.database.$executeRaw`
      UPDATE identity.tenant_deployments SET due_at = now() + ${wait} * interval '1 ms'
      WHERE tenant_id = ${tenantId}::uuid AND attempts = ${attempts} AND due_at IS NOT NULL`;
  }

  /** Has a tenant asked about again that automation is still working on, the longer it takes the later. */
  async askLater({ tenantId, attempts }: Claim, since: Date): Promise<void> {
    const age = Date.now() - since.getTime();
    const wait = Math.min(Math.max(age / SHARE_OF_AGE, this.#use.everyMs), LONGEST_POLL_MS);
    await this.#use.database.$executeRaw`
      UPDATE identity.tenant_deployments
      SET attempts = 0, due_at = now() + ${Math.round(wait)} * interval '1 ms'
      WHERE tenant_id = ${tenantId}::uuid AND attempts = ${attempts}`;
  }

  /** What automation has heard of these tenants, by id. */
  async statesOf(tenantIds: readonly string[]): Promise<ReadonlyMap<string, AutomationState>> {
    const rows = await this.#use.database.tenantDeployment.findMany({
      where: { tenantId: { in: [...tenantIds] } },
      select: { tenantId: true, state: true },
    });
    return new Map(rows.map(({ tenantId, state }) => [tenantId, state as AutomationState]));
  }
}

/** Has automation told of a tenant's state once the transaction has committed, until it hears. */
export const tellAutomation = async (tx: Transaction, tenantId: string): Promise<void> => {
  await tx.$executeRaw`
    INSERT INTO identity.tenant_deployments (tenant_id, state, revision, due_at)
    VALUES (${tenantId}::uuid, 'pending', 1, now())
    ON CONFLICT (tenant_id) DO UPDATE
    SET state = 'pending', revision = tenant_deployments.revision + 1, attempts = 0, due_at = now()`;
};

/**
 * Notes that automation has accepted the state that the tenant had at this revision. Where that has changed
 * meanwhile, the later state still has to be told. A tenant that automation works on is asked about from
 * now on.
 */
export const noteTold = async (
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

/** Nothing is asked about the tenant any more, unless a change of it waits to be told. */
export const noteSettled = async (tx: Transaction, tenantId: string): Promise<void> => {
  await tx.$executeRaw`
    UPDATE identity.tenant_deployments
    SET attempts = 0, due_at = CASE WHEN state = 'pending' THEN now() END
    WHERE tenant_id = ${tenantId}::uuid`;
};

/**
 * Holds the note that a tenant is being created until the transaction ends; false where somebody has
 * begun to take it back.
 */
export const holdIntention = async (tx: Transaction, tenantId: string): Promise<boolean> => {
  const held = await tx.$queryRaw<unknown[]>`
    SELECT FROM identity.tenant_deployments
    WHERE tenant_id = ${tenantId}::uuid AND attempts = 0 FOR UPDATE`;
  return held.length > 0;
};

/** How often the tenant's state was to be told so far. */
export const revisionOf = async (tx: Transaction, tenantId: string): Promise<number> => {
  const row = await tx.tenantDeployment.findUnique({ where: { tenantId } });
  return row?.revision ?? 0;
};
