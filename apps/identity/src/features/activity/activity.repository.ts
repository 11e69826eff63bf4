import { type Exports, readInBatches } from '@tessera/http-kit';
import type { Pool } from 'pg';
import { Prisma } from '../../generated/prisma/client.ts';
import { pageWithin } from '../../lists/paging.ts';

/** Which entries are asked for; what is undefined narrows nothing. */
export interface ActivityFilter {
  readonly tenantId?: string | undefined;
  readonly userId?: string | undefined;
  readonly impersonatorId?: string | undefined;
  readonly action?: string | undefined;
  readonly ipAddress?: string | undefined;
  /** Included. */
  readonly from?: Date | undefined;
  /** Not included. */
  readonly to?: Date | undefined;
}

/** Entries of one batch of an export. */
const BATCH = 500;

/**
 * Who reads: administrators of the system see everything, a tenant sees that the platform's operator did
 * something, but neither which administrator it was nor from where.
 */
export type ActivityReader = 'system' | 'tenant';

/** By time. */
export type ActivityOrder = 'asc' | 'desc';

export interface ActivityPage extends ActivityFilter {
  readonly reader: ActivityReader;
  readonly page: number;
  readonly perPage: number;
  readonly order: ActivityOrder;
}

/** An entry, with the address of its user; of a deleted user the id alone is left. */
export interface Entry {
  readonly id: string;
  readonly created_at: Date;
  readonly action: string;
  /** Null where it is kept from the reader. */
  readonly user_id: string | null;
  readonly user_email: string | null;
  readonly tenant_id: string | null;
  readonly impersonator_id: string | null;
  readonly subject_id: string | null;
  readonly reason: string | null;
  readonly ip_address: string | null;
  readonly user_agent: string | null;
  readonly by_operator: boolean;
}

/** The columns of an entry, in the order of an export. */
const COLUMNS = [
  'id',
  'created_at',
  'action',
  'user_id',
  'user_email',
  'tenant_id',
  'impersonator_id',
  'subject_id',
  'reason',
  'ip_address',
  'user_agent',
  'by_operator',
] as readonly (keyof Entry)[];

const AS_ANOTHER = Prisma.sql`e.impersonator_id IS NOT NULL`;

/** Every condition has an index of its own that is in order of time, too. */
const conditionsOf = (filter: ActivityFilter, reader: ActivityReader): Prisma.Sql => {
  const { tenantId, userId, impersonatorId, action, ipAddress, from, to } = filter;
  const isTenant = reader === 'tenant';
  const given: (Prisma.Sql | false)[] = [
    tenantId !== undefined && Prisma.sql`e.tenant_id = ${tenantId}::uuid`,
    userId !== undefined && Prisma.sql`e.user_id = ${userId}::uuid`,
    // A filter must not find by what the answer does not tell.
    isTenant && userId !== undefined && Prisma.sql`(NOT e.by_operator OR ${AS_ANOTHER})`,
    isTenant && ipAddress !== undefined && Prisma.sql`NOT e.by_operator`,
    impersonatorId !== undefined && Prisma.sql`e.impersonator_id = ${impersonatorId}::uuid`,
    action !== undefined && Prisma.sql`e.action = ${action}`,
    ipAddress !== undefined && Prisma.sql`e.ip_address = ${ipAddress}`,
    from !== undefined && Prisma.sql`e.created_at >= ${from}`,
    to !== undefined && Prisma.sql`e.created_at < ${to}`,
  ];
  return Prisma.join([Prisma.sql`true`, ...given.filter((one) => one !== false)], ' AND ');
};

const inOrder = (order: ActivityOrder): Prisma.Sql =>
  Prisma.raw(`ORDER BY e.created_at ${order}, e.id ${order}`);

const expressionOf = (column: keyof Entry): string =>
  column === 'user_email' ? 'u.email' : `e.${column}`;

/** When a tenant does not see a column. In whose name an administrator acted is the tenant's to know. */
const hidden: Readonly<Partial<Record<keyof Entry, string>>> = {
  user_id: 'e.by_operator AND e.impersonator_id IS NULL',
  user_email: 'e.by_operator AND e.impersonator_id IS NULL',
  impersonator_id: 'true',
  ip_address: 'e.by_operator',
  user_agent: 'e.by_operator',
};

const fieldsFor = (reader: ActivityReader): Prisma.Sql =>
  Prisma.raw(
    COLUMNS.map((column) => {
      const isHidden = reader === 'tenant' ? hidden[column] : undefined;
      const value = expressionOf(column);
      return `${isHidden ? `CASE WHEN ${isHidden} THEN NULL ELSE ${value} END` : value} AS ${column}`;
    }).join(),
  );

const fields = { system: fieldsFor('system'), tenant: fieldsFor('tenant') };

const entries = (filter: ActivityFilter, reader: ActivityReader, rest: Prisma.Sql): Prisma.Sql =>
  Prisma.sql`
  SELECT ${fields[reader]} FROM identity.activity_entries e
  LEFT JOIN identity.users u ON u.id = e.user_id
  WHERE ${conditionsOf(filter, reader)} ${rest}`;

/** What users did: a log that grows and is never changed. */
export class ActivityRepository {
  readonly #pool: Pool;
  readonly #exports: Pick<Exports, 'read'>;

  constructor(pool: Pool, exports: Pick<Exports, 'read'>) {
    this.#pool = pool;
    this.#exports = exports;
  }

  /** One page, and the number of it: a page beyond the last one is the last one. */
  async list(asked: ActivityPage): Promise<{ entries: Entry[]; page: number; total: number }> {
    const [{ total } = { total: 0 }] = await this.#read<{ total: number }>(Prisma.sql`
      SELECT count(*)::int AS total FROM identity.activity_entries e
      WHERE ${conditionsOf(asked, asked.reader)}`);
    const { perPage, order, reader } = asked;
    const page = pageWithin(asked, total);
    const part = Prisma.sql`${inOrder(order)} LIMIT ${perPage} OFFSET ${(page - 1) * perPage}`;
    return { entries: await this.#read<Entry>(entries(asked, reader, part)), page, total };
  }

  /**
   * All entries that match, some hundred at a time. Each batch is a statement of its own that continues
   * after the last entry.
   */
  batches(
    filter: ActivityFilter,
    reader: ActivityReader,
    order: ActivityOrder,
  ): AsyncGenerator<readonly Entry[]> {
    const after = Prisma.raw(order === 'asc' ? '>' : '<');
    return readInBatches<Entry>(BATCH, (last, limit) => {
      const rest = last
        ? Prisma.sql`AND (e.created_at, e.id) ${after} (${last.created_at}, ${last.id}::uuid)`
        : Prisma.empty;
      const part = Prisma.sql`${rest} ${inOrder(order)} LIMIT ${limit}`;
      return this.#exports.read(() => this.#read<Entry>(entries(filter, reader, part)));
    });
  }

  async #read<R>({ text, values }: Prisma.Sql): Promise<R[]> {
    const { rows } = await this.#pool.query({ text, values });
    return rows as R[];
  }
}
