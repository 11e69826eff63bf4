import { HttpError, notFound } from '@tessera/http-kit';
import { type Actor, note } from '../../activity/activity.ts';
import { created } from '../../activity/changes.ts';
import { advisoryLocks, type Database, type Transaction } from '../../database.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { readPage } from '../../lists/paging.ts';
import { containsText } from '../../lists/search.ts';
import { enqueue } from '../../outbox/outbox.ts';
import {
  type DeploymentsRepository,
  lockIntent,
  recordSettled,
  recordSynced,
  revisionOf,
} from './deployments.repository.ts';
import { changeInProgress, type TenantStatus } from './state-machine.ts';
import { type Tenant, tenantFromRow } from './tenant.ts';
import type { CreatedTenant, TenantCreation } from './tenant-creation.ts';
import { findTenant, statusChanged, TenantInTransaction } from './tenant-in-transaction.ts';

export type SortColumn = 'name' | 'slug' | 'plan' | 'status' | 'createdAt';

export interface TenantQuery {
  readonly page: number;
  readonly perPage: number;
  readonly search: string | undefined;
  readonly status: TenantStatus | undefined;
  readonly sort: { readonly by: SortColumn; readonly order: 'asc' | 'desc' };
}

export interface NewTenant {
  readonly id: string;
  readonly slug?: string | undefined;
  readonly name: string;
  readonly plan: string;
}

const noTenant = () => notFound('The tenant');

const matching = ({ search, status }: TenantQuery): Prisma.TenantWhereInput => ({
  ...(status && { status }),
  ...(search !== undefined && {
    AND: search.split(/\s+/).map((word) => ({
      OR: [{ name: containsText(word) }, { slug: containsText(word) }],
    })),
  }),
});

/** A tenant with the exclusive right to call automation until the transaction ends. */
export class ExclusiveTenant {
  readonly #tx: Transaction;
  readonly #id: string;
  /**
   * The tenant at the start; changes that do not involve automation may still happen concurrently.
   */
  readonly tenant: Tenant | null;
  /** Revision of the state sent to automation. */
  readonly revision: number;

  constructor(tx: Transaction, id: string, tenant: Tenant | null, revision: number) {
    this.#tx = tx;
    this.#id = id;
    this.tenant = tenant;
    this.revision = revision;
  }

  /** Locks the current tenant; 404 if it no longer exists. */
  async lock(): Promise<TenantInTransaction> {
    return lockTenant(this.#tx, this.#id);
  }

  /** Records that automation has accepted the tenant's state at the start. */
  async recordSynced(): Promise<void> {
    await recordSynced(this.#tx, this.#id, this.revision);
  }

  /** Records that there was nothing to send. */
  async recordSettled(): Promise<void> {
    await recordSettled(this.#tx, this.#id);
  }

  /** Deletes the record of the tenant's creation. */
  async deleteRecord(): Promise<void> {
    await this.#tx.tenantDeployment.deleteMany({ where: { tenantId: this.#id } });
  }
}

const lockTenant = async (tx: Transaction, id: string): Promise<TenantInTransaction> => {
  await tx.$queryRaw`SELECT FROM identity.tenants WHERE id = ${id}::uuid FOR NO KEY UPDATE`;
  const tenant = await findTenant(tx, id);
  if (!tenant) throw noTenant();
  return new TenantInTransaction(tx, tenant);
};

export interface TenantsRepositoryOptions {
  readonly database: Database;
  readonly creation: TenantCreation;
  readonly deployments: DeploymentsRepository;
  /** Time limit of a change in milliseconds, including calls to other services. */
  readonly timeout: number;
}

export class TenantsRepository {
  readonly #use: TenantsRepositoryOptions;

  constructor(options: TenantsRepositoryOptions) {
    this.#use = options;
  }

  /** One page and its number. A page beyond the last one returns the last one. */
  async list(query: TenantQuery): Promise<{ tenants: Tenant[]; page: number; total: number }> {
    const where = matching(query);
    const { by, order } = query.sort;
    const orderBy = [{ [by]: order }, { id: order }];
    const { rows, ...at } = await readPage(this.#use.database, query, {
      count: (tx) => tx.tenant.count({ where }),
      rows: (tx, part) => tx.tenant.findMany({ where, orderBy, ...part }),
    });
    const states = await this.#use.deployments.statesOf(rows.map(({ id }) => id));
    return { tenants: rows.map((row) => tenantFromRow(row, states.get(row.id))), ...at };
  }

  /** Null if it does not exist. */
  find(id: string): Promise<Tenant | null> {
    return findTenant(this.#use.database, id);
  }

  /** 404 if it does not exist. */
  async show(id: string): Promise<Tenant> {
    const tenant = await this.find(id);
    if (!tenant) throw noTenant();
    return tenant;
  }

  /**
   * Creates a tenant whose creation was recorded (`DeploymentsRepository.recordIntent`), with its confidential client
   * and secret. `deploy` runs before the commit; if it throws, nothing is created. 422 on `slug` if it is
   * taken.
   */
  async create(
    given: NewTenant,
    actor: Actor | null,
    deploy: (tenant: Tenant) => Promise<unknown>,
  ): Promise<{ tenant: Tenant; client: CreatedTenant['client'] }> {
    return this.#transaction(async (tx) => {
      if (!(await lockIntent(tx, given.id))) throw creationTimedOut();
      const made = await this.#use.creation.create(
        tx,
        { ...given, status: 'provisioning' },
        // Policies do not grant this, so a user is a system administrator.
        { isForAdministrator: actor !== null },
      );
      await deploy(tenantFromRow(made.tenant));
      await recordSynced(tx, given.id, await revisionOf(tx, given.id));
      const tenant = tenantFromRow(made.tenant, 'told');
      const { id: tenantId, name, slug, plan } = tenant;
      const changes = created({ name, slug, plan });
      if (actor) await note(tx, { ...actor, tenantId }, 'tenant_created', { changes });
      await enqueue(tx, statusChanged(tenant.id, tenant.status));
      return { tenant, client: made.client };
    });
  }

  /**
   * Runs a change with the tenant's row locked and without calls to other services; 404 if it does not exist.
   * Members, roles and tokens of the tenant can change meanwhile.
   */
  changing<T>(id: string, work: (tenant: TenantInTransaction) => Promise<T>): Promise<T> {
    return this.#transaction(async (tx) => work(await lockTenant(tx, id)));
  }

  /**
   * Runs `work` that calls automation for a tenant, one at a time: 409 if another is in progress. The tenant's
   * row is not locked meanwhile, so that it can be suspended whatever automation does.
   */
  exclusively<T>(id: string, work: (exclusive: ExclusiveTenant) => Promise<T>): Promise<T> {
    return this.#transaction(async (tx) => {
      const [lock] = await tx.$queryRaw<{ isAcquired: boolean }[]>`
        SELECT pg_try_advisory_xact_lock(${advisoryLocks.deploymentCalls}::int, hashtext(${id})) AS "isAcquired"`;
      if (!lock?.isAcquired) throw changeInProgress();
      const revision = await revisionOf(tx, id);
      return work(new ExclusiveTenant(tx, id, await findTenant(tx, id), revision));
    });
  }

  #transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#use.database.$transaction(work, { timeout: this.#use.timeout });
  }
}

const creationTimedOut = (): HttpError =>
  new HttpError(503, 'overloaded', 'Creating the tenant took too long. Try again.', {
    headers: { 'Retry-After': '5' },
  });
