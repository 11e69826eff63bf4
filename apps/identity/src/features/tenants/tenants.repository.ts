import { HttpError, notFound } from '@tessera/http-kit';
import { type Actor, note } from '../../activity/activity.ts';
import type { Database, Transaction } from '../../database.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { readPage } from '../../lists/paging.ts';
import { enqueue } from '../../outbox/outbox.ts';
import {
  type DeploymentsRepository,
  holdIntention,
  noteSettled,
  noteTold,
  revisionOf,
} from './deployments.repository.ts';
import { type TenantStatus, underWay } from './state-machine.ts';
import { type Tenant, tenantOf } from './tenant.ts';
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

/** The first of two numbers of an advisory lock; nothing else in this database uses it. */
const TURNS = 0x0de9;

/** A turn to ask automation about a tenant: nobody else does until the transaction ends. */
export class Turn {
  readonly #tx: Transaction;
  readonly #id: string;
  /** The tenant as the turn begins; others may still change what automation is not asked about first. */
  readonly tenant: Tenant | null;
  /** Of the state that automation is told in this turn. */
  readonly revision: number;

  constructor(tx: Transaction, id: string, tenant: Tenant | null, revision: number) {
    this.#tx = tx;
    this.#id = id;
    this.tenant = tenant;
    this.revision = revision;
  }

  /** Holds the tenant as it is by now; 404 where it is gone. */
  async hold(): Promise<TenantInTransaction> {
    return hold(this.#tx, this.#id);
  }

  /** Notes that automation has accepted the tenant as it was when the turn began. */
  async told(): Promise<void> {
    await noteTold(this.#tx, this.#id, this.revision);
  }

  /** Notes that there was nothing to tell. */
  async nothingToTell(): Promise<void> {
    await noteSettled(this.#tx, this.#id);
  }

  /** Forgets that the tenant was to be created. */
  async forget(): Promise<void> {
    await this.#tx.tenantDeployment.deleteMany({ where: { tenantId: this.#id } });
  }
}

const hold = async (tx: Transaction, id: string): Promise<TenantInTransaction> => {
  await tx.$queryRaw`SELECT FROM identity.tenants WHERE id = ${id}::uuid FOR NO KEY UPDATE`;
  const tenant = await findTenant(tx, id);
  if (!tenant) throw noTenant();
  return new TenantInTransaction(tx, tenant);
};

export interface TenantsRepositoryOptions {
  readonly database: Database;
  readonly creation: TenantCreation;
  readonly deployments: DeploymentsRepository;
  /** Milliseconds that a change may take, what it asks of others included. */
  readonly timeout: number;
}

export class TenantsRepository {
  readonly #use: TenantsRepositoryOptions;

  constructor(options: TenantsRepositoryOptions) {
    this.#use = options;
  }

  /** One page, and the number of it: a page beyond the last one is the last one. */
  async list(query: TenantQuery): Promise<{ tenants: Tenant[]; page: number; total: number }> {
    const where = matching(query);
    const { by, order } = query.sort;
    const orderBy = [{ [by]: order }, { id: order }];
    const { rows, ...at } = await readPage(this.#use.database, query, {
      count: (tx) => tx.tenant.count({ where }),
      rows: (tx, part) => tx.tenant.findMany({ where, orderBy, ...part }),
    });
    const states = await this.#use.deployments.statesOf(rows.map(({ id }) => id));
    return { tenants: rows.map((row) => tenantOf(row, states.get(row.id))), ...at };
  }

  /** Null where there is none. */
  find(id: string): Promise<Tenant | null> {
    return findTenant(this.#use.database, id);
  }

  /** 404 where there is none. */
  async show(id: string): Promise<Tenant> {
    const tenant = await this.find(id);
    if (!tenant) throw noTenant();
    return tenant;
  }

  /**
   * Writes a tenant whose creation was noted (`DeploymentsRepository.intend`), with its confidential
   * client, whose secret it gives; `deploy` runs before anything is told of it, and where it throws there
   * was no tenant. 422 on `slug` where that is taken.
   */
  async create(
    given: NewTenant,
    actor: Actor | null,
    deploy: (tenant: Tenant) => Promise<unknown>,
  ): Promise<{ tenant: Tenant; client: CreatedTenant['client'] }> {
    return this.#transaction(async (tx) => {
      if (!(await holdIntention(tx, given.id))) throw tooLate();
      const created = await this.#use.creation.create(tx, { ...given, status: 'provisioning' });
      await deploy(tenantOf(created.tenant));
      await noteTold(tx, given.id, await revisionOf(tx, given.id));
      const tenant = tenantOf(created.tenant, 'told');
      if (actor) await note(tx, { ...actor, tenantId: tenant.id }, 'tenant_created');
      await enqueue(tx, statusChanged(tenant.id, tenant.status));
      return { tenant, client: created.client };
    });
  }

  /**
   * Runs a change of a tenant that holds its row, and asks nobody else: 404 where there is none. Members,
   * roles and tokens of the tenant can change meanwhile.
   */
  changing<T>(id: string, work: (held: TenantInTransaction) => Promise<T>): Promise<T> {
    return this.#transaction(async (tx) => work(await hold(tx, id)));
  }

  /**
   * Runs what asks automation about a tenant, one at a time: 409 where another one is under way. The
   * tenant itself is not held meanwhile, so that it can be suspended whatever automation does.
   */
  inTurn<T>(id: string, work: (turn: Turn) => Promise<T>): Promise<T> {
    return this.#transaction(async (tx) => {
      const [turn] = await tx.$queryRaw<{ isOurs: boolean }[]>`
        SELECT pg_try_advisory_xact_lock(${TURNS}::int, hashtext(${id})) AS "isOurs"`;
      if (!turn?.isOurs) throw underWay();
      const revision = await revisionOf(tx, id);
      return work(new Turn(tx, id, await findTenant(tx, id), revision));
    });
  }

  #transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#use.database.$transaction(work, { timeout: this.#use.timeout });
  }
}

const tooLate = (): HttpError =>
  new HttpError(503, 'overloaded', 'The tenant was not created in time. Try again.', {
    headers: { 'Retry-After': '5' },
  });
