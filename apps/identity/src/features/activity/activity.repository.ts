import { type Exports, pageWithin, readInBatches } from '@tessera/http-kit';
import type { Pool } from 'pg';
import { personalActions } from '../../activity/actions.ts';
import type { Changes } from '../../activity/changes.ts';
import { Prisma } from '../../generated/prisma/client.ts';

/** Filters on the activity log; an undefined field does not filter. */
export interface ActivityFilter {
  readonly tenantId?: string | undefined;
  readonly userId?: string | undefined;
  readonly impersonatorId?: string | undefined;
  readonly action?: string | undefined;
  readonly ipAddress?: string | undefined;
  /** Inclusive. */
  readonly from?: Date | undefined;
  /** Exclusive. */
  readonly to?: Date | undefined;
}

/** Number of entries per batch of an export. */
const BATCH = 500;

/**
 * Who reads the log. System administrators see everything. A tenant sees that an operator of the platform
 * acted, but not which administrator, nor from which address.
 */
export type ActivityReader = 'system' | 'tenant';

/** Sort order by time. */
export type ActivityOrder = 'asc' | 'desc';

export interface ActivityPage extends ActivityFilter {
  readonly reader: ActivityReader;
  readonly page: number;
  readonly perPage: number;
  readonly order: ActivityOrder;
}

/**
 * An entry with its user's email address. For a deleted user, and in a tenant's log for one who has left the tenant, only
 * the id remains.
 */
export interface Entry {
  readonly id: string;
  readonly created_at: Date;
  readonly action: string;
  /** Null if hidden from the reader, and for a command that is not about an account. */
  readonly user_id: string | null;
  readonly user_email: string | null;
  readonly tenant_id: string | null;
  readonly impersonator_id: string | null;
  readonly command: string | null;
  readonly subject_id: string | null;
  readonly reason: string | null;
  readonly changes: Changes | null;
  readonly ip_address: string | null;
  readonly user_agent: string | null;
  readonly by_operator: boolean;
}

/** Columns of an entry in the order used by exports. */
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
  'command',
  'changes',
] as readonly (keyof Entry)[];

/** Not the operator themselves, but the user on whose behalf or on whose account they acted. */
const NAMES_ANOTHER = '(e.impersonator_id IS NOT NULL OR e.command IS NOT NULL)';

/** Each condition has its own index, which is also ordered by time. */
const conditionsOf = (filter: ActivityFilter, reader: ActivityReader): Prisma.Sql => {
  const { tenantId, userId, impersonatorId, action, ipAddress, from, to } = filter;
  const isTenant = reader === 'tenant';
  const given: (Prisma.Sql | false)[] = [
    tenantId !== undefined && Prisma.sql`e.tenant_id = ${tenantId}::uuid`,
    userId !== undefined && Prisma.sql`e.user_id = ${userId}::uuid`,
    // A filter must not reveal what the response hides.
    isTenant && userId !== undefined && Prisma.raw(`(NOT e.by_operator OR ${NAMES_ANOTHER})`),
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

/**
 * SQL conditions under which a column is hidden from a tenant. A tenant may know on whose behalf an
 * administrator acted. The address is that of today, which does not concern tenants that the user has left (decision
 * I20).
 */
const hidden: Readonly<Partial<Record<keyof Entry, string>>> = {
  user_id: `e.by_operator AND NOT ${NAMES_ANOTHER}`,
  user_email: `e.by_operator AND NOT ${NAMES_ANOTHER} OR NOT EXISTS (
    SELECT 1 FROM identity.memberships m WHERE m.tenant_id = e.tenant_id AND m.user_id = e.user_id)`,
  impersonator_id: 'true',
  ip_address: 'e.by_operator',
  user_agent: 'e.by_operator',
  changes: `e.action IN (${personalActions.map((action) => `'${action}'`).join()})`,
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

/** The activity log; entries are never changed. */
export class ActivityRepository {
  readonly #pool: Pool;
  readonly #exports: Pick<Exports, 'read'>;

  constructor(pool: Pool, exports: Pick<Exports, 'read'>) {
    this.#pool = pool;
    this.#exports = exports;
  }

  /** One page and its number. A page beyond the last one returns the last one. */
  async list(query: ActivityPage): Promise<{ entries: Entry[]; page: number; total: number }> {
    const [{ total } = { total: 0 }] = await this.#read<{ total: number }>(Prisma.sql`
      SELECT count(*)::int AS total FROM identity.activity_entries e
      WHERE ${conditionsOf(query, query.reader)}`);
    const { perPage, order, reader } = query;
    const page = pageWithin(query, total);
    const part = Prisma.sql`${inOrder(order)} LIMIT ${perPage} OFFSET ${(page - 1) * perPage}`;
    return { entries: await this.#read<Entry>(entries(query, reader, part)), page, total };
  }

  /**
   * All entries that match, some hundred at a time, in turns with those that other callers read. Each batch is a statement of its own that continues
   * after the last entry.
   */
  batches(
    callerId: string,
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
      return this.#exports.read(callerId, () => this.#read<Entry>(entries(filter, reader, part)));
    });
  }

  async #read<R>({ text, values }: Prisma.Sql): Promise<R[]> {
    const { rows } = await this.#pool.query({ text, values });
    return rows as R[];
  }
}
