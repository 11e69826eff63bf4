import { brokenForeignKey } from '@tessera/database-kit';
import { invalidField } from '@tessera/http-kit';
import type { Db } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';
import type { Listed } from './listing.ts';
import { columnSql, type RecordModel, type Row, selected, type Table, tableOf } from './model.ts';
import { readNarrowedList } from './narrowed-list.ts';
import { searchCondition } from './search.ts';
import { readWholeList } from './whole-list.ts';

const { sql, join, raw } = Prisma;

/** Values that the columns of a row have. */
export type Reached = Readonly<Record<string, unknown>>;

export interface ListRequest {
  readonly page: number;
  readonly perPage: number;
  readonly sort: { readonly column: string; readonly descending: boolean };
  readonly conditions: readonly Prisma.Sql[];
  readonly search: string;
  readonly exactTotal: boolean;
}

/** The state in which a row is to be changed. */
export interface Expected {
  readonly id: string;
  /** Any of them; undefined: whichever it is. */
  readonly versions?: readonly number[] | undefined;
  readonly deleted: boolean;
}

const conditionsOf = (reached: Reached): Prisma.Sql[] =>
  Object.entries(reached).map(([column, value]) => sql`${columnSql(column)} = ${value}`);

const keptCount = (table: string, tenantId: string): Prisma.Sql => sql`(
  SELECT coalesce(sum(count), 0)::int FROM tenant_crm.record_counts
  WHERE table_name = ${table} AND tenant_id = ${tenantId}::uuid
)`;

/** The rows of one kind of record. Only the rows that `reached` describes are seen and changed. */
export class RecordRepository<M extends RecordModel> {
  readonly #db: Db;
  readonly #rows: Table<M>;
  readonly #name: string;
  readonly #table: Prisma.Sql;
  readonly #columns: Prisma.Sql;

  constructor(db: Db, model: M, table: string) {
    this.#db = db;
    this.#rows = tableOf(db, model);
    this.#name = table;
    this.#table = raw(`tenant_crm.${table}`);
    this.#columns = selected(model);
  }

  async list(tenantId: string, reached: Reached, request: ListRequest): Promise<Listed<Row<M>>> {
    const { search, conditions, sort } = request;
    const table = this.#table;
    const live = sql`tenant_id = ${tenantId}::uuid AND deleted_at IS NULL`;
    const narrowing = [...conditionsOf(reached), ...conditions];
    if (search) {
      const among = join([live, ...narrowing], ' AND ');
      narrowing.push(await searchCondition(this.#db, table, among, search));
    }
    const listing = {
      ...request,
      table,
      columns: this.#columns,
      live,
      liveTotal: keptCount(this.#name, tenantId),
      sort: { ...sort, column: columnSql(sort.column) },
    };
    return narrowing.length === 0
      ? readWholeList(this.#db, listing)
      : readNarrowedList(this.#db, { ...listing, narrowing: join(narrowing, ' AND ') });
  }

  /** The row, deleted or not. */
  async find(tenantId: string, reached: Reached, id: string): Promise<Row<M> | undefined> {
    const own = sql`id = ${id}::uuid AND tenant_id = ${tenantId}::uuid`;
    const where = join([own, ...conditionsOf(reached)], ' AND ');
    const [row] = await this.#db.read<Row<M>>(
      sql`SELECT ${this.#columns} FROM ${this.#table} WHERE ${where}`,
    );
    return row;
  }

  async insert(tenantId: string, values: object): Promise<Row<M>> {
    const data = [{ ...values, tenantId }];
    const [row] = await this.#rows.createManyAndReturn({ data }).catch(this.#refuse);
    return row as Row<M>;
  }

  /** Changes the row by one statement; undefined where there is none in the state that is expected. */
  async update(
    tenantId: string,
    reached: Reached,
    { id, versions, deleted }: Expected,
    values: object,
  ): Promise<Row<M> | undefined> {
    const where = {
      ...reached,
      id,
      tenantId,
      deletedAt: deleted ? { not: null } : null,
      ...(versions && { version: { in: versions } }),
    };
    const data = { ...values, version: { increment: 1 } };
    const [row] = await this.#rows.updateManyAndReturn({ where, data }).catch(this.#refuse);
    return row;
  }

  /** A reference to what is not there, or is another tenant's, or is deleted: a 422. */
  readonly #refuse = (error: unknown): never => {
    const key = brokenForeignKey(error);
    if (key === undefined) throw error;
    const field = key.slice(`${this.#name}_`.length, -'_fkey'.length);
    const named = field.replace(/_id$/, '').replaceAll('_', ' ');
    throw invalidField(field, `${field} must be the id of an existing ${named}`);
  };
}
