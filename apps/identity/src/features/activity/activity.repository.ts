import { inBatches } from '@tessera/database-kit';
import type { Pool } from 'pg';
import { Prisma } from '../../generated/prisma/client.ts';
import { pageWithin } from '../../paging.ts';

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

/** By time. */
export type ActivityOrder = 'asc' | 'desc';

export interface ActivityPage extends ActivityFilter {
  readonly page: number;
  readonly perPage: number;
  readonly order: ActivityOrder;
}

/** An entry, with the address of its user. */
export interface Entry {
  readonly id: string;
  readonly created_at: Date;
  readonly action: string;
  readonly user_id: string;
  readonly user_email: string | null;
  readonly tenant_id: string | null;
  readonly impersonator_id: string | null;
  readonly subject_id: string | null;
  readonly reason: string | null;
  readonly ip_address: string | null;
  readonly user_agent: string | null;
}

/** The columns of an entry, in the order of an export. */
export const COLUMNS = [
  ...['id', 'created_at', 'action', 'user_id', 'user_email', 'tenant_id'],
  ...['impersonator_id', 'subject_id', 'reason', 'ip_address', 'user_agent'],
] as readonly (keyof Entry)[];

/** Every condition has an index of its own that is in order of time, too. */
const conditionsOf = (filter: ActivityFilter): Prisma.Sql => {
  const { tenantId, userId, impersonatorId, action, ipAddress, from, to } = filter;
  const given: (Prisma.Sql | false)[] = [
    tenantId !== undefined && Prisma.sql`e.tenant_id = ${tenantId}::uuid`,
    userId !== undefined && Prisma.sql`e.user_id = ${userId}::uuid`,
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

const FIELDS = Prisma.raw(
  COLUMNS.map((column) =>
    column === 'user_email' ? 'u.email AS user_email' : `e.${column}`,
  ).join(),
);

const entries = (filter: ActivityFilter, rest: Prisma.Sql): Prisma.Sql => Prisma.sql`
  SELECT ${FIELDS} FROM identity.activity_entries e JOIN identity.users u ON u.id = e.user_id
  WHERE ${conditionsOf(filter)} ${rest}`;

/** What users did: a log that grows and is never changed. */
export class ActivityRepository {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** One page, and the number of it: a page beyond the last one is the last one. */
  async list(asked: ActivityPage): Promise<{ entries: Entry[]; page: number; total: number }> {
    const [{ total } = { total: 0 }] = await this.#read<{ total: number }>(Prisma.sql`
      SELECT count(*)::int AS total FROM identity.activity_entries e WHERE ${conditionsOf(asked)}`);
    const { perPage, order } = asked;
    const page = pageWithin(asked, total);
    const part = Prisma.sql`${inOrder(order)} LIMIT ${perPage} OFFSET ${(page - 1) * perPage}`;
    return { entries: await this.#read<Entry>(entries(asked, part)), page, total };
  }

  /** All of them, some hundred at a time; the connection is held until the last, or until nobody asks on. */
  batches(filter: ActivityFilter, order: ActivityOrder): AsyncGenerator<Entry[]> {
    const { text, values } = entries(filter, inOrder(order));
    return inBatches<Entry>(this.#pool, { text, values });
  }

  async #read<R>({ text, values }: Prisma.Sql): Promise<R[]> {
    const { rows } = await this.#pool.query({ text, values });
    return rows as R[];
  }
}
