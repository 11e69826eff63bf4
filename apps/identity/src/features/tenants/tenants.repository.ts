import { notFound } from '@tessera/http-kit';
import { type Actor, note } from '../../activity.ts';
import type { Database, Transaction } from '../../database.ts';
import { Prisma, type Tenant as Row } from '../../generated/prisma/client.ts';
import { enqueue } from '../../outbox/outbox.ts';
import { readPage } from '../../paging.ts';
import { planScaling, type Scaling, type Service } from './scaling.ts';
import { type TenantStatus, underWay } from './state-machine.ts';
import type { CreatedTenant, TenantCreation } from './tenant-creation.ts';

export type Versions = Partial<Record<Service, string>>;

/** A tenant as its administration sees it. */
export interface Tenant {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly plan: string;
  readonly status: TenantStatus;
  readonly versions: Versions;
  /** The pull request that the versions come from. */
  readonly pullRequestUrl: string | null;
  /** Its own, or the plan's. */
  readonly scaling: Scaling;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

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

/** A check constraint holds the status; versions and scaling were checked when they were written. */
const tenantOf = ({ scaling, ...row }: Row): Tenant => ({
  ...row,
  status: row.status as TenantStatus,
  versions: row.versions as Versions,
  scaling: (scaling as Scaling | null) ?? planScaling(row.plan),
});

const noTenant = () => notFound('The tenant');

/** Prisma hands `%`, `_` and `\` of a term to LIKE as they are. */
const literally = (term: string) =>
  ({ contains: term.replace(/[\\%_]/g, '\\$&'), mode: 'insensitive' }) as const;

const matching = ({ search, status }: TenantQuery): Prisma.TenantWhereInput => ({
  ...(status && { status }),
  ...(search !== undefined && {
    AND: search.split(/\s+/).map((word) => ({
      OR: [{ name: literally(word) }, { slug: literally(word) }],
    })),
  }),
});

const told = (id: string, status: TenantStatus | 'gone') =>
  ({ type: 'identity.tenant.status_changed', data: { tenant_id: id, status } }) as const;

/** Who did what, for the activity log; nobody's where a system application did it. */
export interface Deed {
  readonly actor: Actor | null;
  readonly action: string;
}

/** A tenant that nobody else changes until the transaction ends. */
export class TenantInTransaction {
  readonly #tx: Transaction;
  readonly tenant: Tenant;

  constructor(tx: Transaction, tenant: Tenant) {
    this.#tx = tx;
    this.tenant = tenant;
  }

  /** Moves it, tells of it, and notes it where somebody did it. */
  async move(status: TenantStatus, deed?: Deed): Promise<Tenant> {
    const moved = await this.#update({ status });
    await this.#note(deed);
    await enqueue(this.#tx, told(this.tenant.id, status));
    return moved;
  }

  /** Changes what is no state of it, and notes it. */
  async change(
    data: Pick<Prisma.TenantUpdateInput, 'versions' | 'pullRequestUrl' | 'scaling'>,
    deed: Deed,
  ): Promise<Tenant> {
    const changed = await this.#update(data);
    await this.#note(deed);
    return changed;
  }

  /** Takes it away with all that is its: service accounts, memberships, roles, tokens, clients. */
  async remove(): Promise<void> {
    const { id } = this.tenant;
    await this.#tx.user.deleteMany({
      where: { isServiceAccount: true, memberships: { some: { tenantId: id } } },
    });
    await this.#tx.tenant.delete({ where: { id } });
    await enqueue(this.#tx, told(this.tenant.id, 'gone'));
  }

  async #update(data: Prisma.TenantUpdateInput): Promise<Tenant> {
    return tenantOf(await this.#tx.tenant.update({ where: { id: this.tenant.id }, data }));
  }

  async #note(deed: Deed | undefined): Promise<void> {
    if (deed?.actor) await note(this.#tx, { ...deed.actor, tenantId: this.tenant.id }, deed.action);
  }
}

export interface TenantsRepositoryOptions {
  readonly database: Database;
  readonly creation: TenantCreation;
  /** Milliseconds that a change may take, what it asks of others included. */
  readonly timeout: number;
}

export class TenantsRepository {
  readonly #database: Database;
  readonly #creation: TenantCreation;
  readonly #timeout: number;

  constructor({ database, creation, timeout }: TenantsRepositoryOptions) {
    this.#database = database;
    this.#creation = creation;
    this.#timeout = timeout;
  }

  /** One page, and the number of it: a page beyond the last one is the last one. */
  async list(query: TenantQuery): Promise<{ tenants: Tenant[]; page: number; total: number }> {
    const where = matching(query);
    const { by, order } = query.sort;
    const orderBy = [{ [by]: order }, { id: order }];
    const { rows, ...at } = await readPage(this.#database, query, {
      count: (tx) => tx.tenant.count({ where }),
      rows: (tx, part) => tx.tenant.findMany({ where, orderBy, ...part }),
    });
    return { tenants: rows.map(tenantOf), ...at };
  }

  /** 404 where there is none. */
  async show(id: string): Promise<Tenant> {
    const row = await this.#database.tenant.findUnique({ where: { id } });
    if (!row) throw noTenant();
    return tenantOf(row);
  }

  /** Tenants that something is being done with, the longest waiting first. */
  async unsettled(most: number): Promise<Tenant[]> {
    const rows = await this.#database.tenant.findMany({
      where: { status: { in: ['provisioning', 'deleting'] } },
      orderBy: [{ updatedAt: 'asc' }, { id: 'asc' }],
      take: most,
    });
    return rows.map(tenantOf);
  }

  /**
   * Writes a tenant with its confidential client, whose secret it gives; `deploy` runs before anything is
   * told of it, and where it throws there was no tenant. 422 on `slug` where that is taken.
   */
  async create(
    given: NewTenant,
    actor: Actor | null,
    deploy: (tenant: Tenant) => Promise<unknown>,
  ): Promise<{ tenant: Tenant; client: CreatedTenant['client'] }> {
    return this.#transaction(async (tx) => {
      const created = await this.#creation.create(tx, { ...given, status: 'provisioning' });
      const tenant = tenantOf(created.tenant);
      await deploy(tenant);
      if (actor) await note(tx, { ...actor, tenantId: tenant.id }, 'tenant_created');
      await enqueue(tx, told(tenant.id, tenant.status));
      return { tenant, client: created.client };
    });
  }

  /**
   * Runs a change of a tenant that holds its row: 409 where another one has it, 404 where there is none.
   * Members, roles and tokens of the tenant can change meanwhile.
   */
  async changing<T>(id: string, work: (held: TenantInTransaction) => Promise<T>): Promise<T> {
    return this.#transaction(async (tx) => {
      const held = await tx.$queryRaw<unknown[]>`
        SELECT FROM identity.tenants WHERE id = ${id}::uuid FOR NO KEY UPDATE SKIP LOCKED`;
      const row = await tx.tenant.findUnique({ where: { id } });
      if (!row) throw noTenant();
      if (held.length === 0) throw underWay();
      return work(new TenantInTransaction(tx, tenantOf(row)));
    });
  }

  #transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#database.$transaction(work, { timeout: this.#timeout });
  }
}

/** No configuration of its own, in the column that holds one. */
export const NO_SCALING = Prisma.DbNull;
