import { type HttpError, notFound } from '@tessera/http-kit';
import type { Db } from '../database.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import type { Caller } from '../http.ts';
import type { Declaration } from './declaration.ts';
import type { Filters } from './filters.ts';
import type { ListQuery } from './list-query.ts';
import type { Listed } from './listing.ts';
import {
  type Column,
  columnSql,
  columnsOf,
  presenter,
  type RecordModel,
  type Row,
} from './model.ts';
import { type Expected, RecordRepository } from './repository.ts';
import { preconditionFailed } from './versions.ts';

/** A record as it is presented, with its version. */
export interface Versioned<Answer> {
  readonly id: string;
  readonly answer: Answer;
  readonly version: number;
}

/**
 * What can be done with one kind of record, within the caller's tenant. A record that is not there, or
 * not within the caller's reach, is a 404. Where `versions` are given, a record in another is a 412.
 */
export interface Records<Input, Query, Answer> {
  list(caller: Caller, query?: Partial<Query>): Promise<Listed<Answer>>;
  show(caller: Caller, id: string): Promise<Versioned<Answer>>;
  create(caller: Caller, input: Input): Promise<Versioned<Answer>>;
  /** Changes the columns that are given, and no other; without any it stays in its version. */
  change(
    caller: Caller,
    id: string,
    change: Partial<Input>,
    versions?: readonly number[],
  ): Promise<Versioned<Answer>>;
  /** Takes it out of sight; `restore` brings it back. */
  remove(caller: Caller, id: string, versions?: readonly number[]): Promise<void>;
  /** Brings it back; one that is there already stays as it is. */
  restore(caller: Caller, id: string, versions?: readonly number[]): Promise<Versioned<Answer>>;
}

/** The record that a caller would change, and in which versions. */
type Asked = Omit<Expected, 'deleted'>;

/** One kind of record, as it is declared, in a database or within a transaction. */
export const createRecords = <
  M extends RecordModel,
  Input extends object,
  Answer extends object,
  Sort extends string,
  F extends Filters<Column<M>>,
>(
  declaration: Declaration<M, Input, Answer, Sort, F>,
  db: Db,
): Records<Input, ListQuery<Sort, F>, Answer> => {
  const { model, table, name, filters, present = presenter(declaration.answer) } = declaration;
  const repository = new RecordRepository(db, model, table);
  const reach = (caller: Caller) => declaration.reach?.(caller) ?? {};

  const versioned = (row: Row<M>): Versioned<Answer> => ({
    id: row.id,
    answer: present(row),
    version: row.version,
  });

  const missing = (): HttpError => notFound(`The ${name}`);
  const find = async (caller: Caller, id: string): Promise<Row<M>> => {
    const row = await repository.find(caller.tenantId, reach(caller), id);
    if (!row) throw missing();
    return row;
  };
  const findLive = async (caller: Caller, id: string): Promise<Row<M>> => {
    const row = await find(caller, id);
    if (row.deletedAt) throw missing();
    return row;
  };

  const expectLive = async (caller: Caller, { id, versions }: Asked): Promise<Row<M>> => {
    const row = await findLive(caller, id);
    if (versions && !versions.includes(row.version)) throw preconditionFailed();
    return row;
  };

  const changeLive = async (caller: Caller, asked: Asked, values: object): Promise<Row<M>> => {
    if (Object.keys(values).length === 0) return expectLive(caller, asked);
    const expected = { ...asked, deleted: false };
    const row = await repository.update(caller.tenantId, reach(caller), expected, values);
    if (row) return row;
    if (!asked.versions) throw missing();
    await findLive(caller, asked.id);
    throw preconditionFailed();
  };

  const conditionsOf = (query: Partial<ListQuery<Sort, F>>): Prisma.Sql[] =>
    Object.entries(filters).flatMap(([parameter, { column, condition }]) => {
      const value = query[parameter];
      return value === undefined ? [] : [condition(columnSql(column), value)];
    });

  const sortOf = (by: Sort | `-${Sort}`): { column: string; descending: boolean } => {
    const descending = by.startsWith('-');
    return { column: declaration.sort[(descending ? by.slice(1) : by) as Sort], descending };
  };

  return {
    async list(caller, query = {}) {
      const { page = 1, per_page: perPage = 25, search = '' } = query;
      const listed = await repository.list(caller.tenantId, reach(caller), {
        page,
        perPage,
        search: search.trim(),
        sort: sortOf(query.sort ?? declaration.defaultSort),
        conditions: conditionsOf(query),
        exactTotal: query.exact_total ?? false,
      });
      return { ...listed, rows: listed.rows.map(present) };
    },

    async show(caller, id) {
      return versioned(await findLive(caller, id));
    },

    async create(caller, input) {
      const more = await declaration.prepare?.(input, { caller, db });
      const values = { ...columnsOf(input), ...more };
      return versioned(await repository.insert(caller.tenantId, values));
    },

    async change(caller, id, change, versions) {
      const more = await declaration.prepare?.(change, { caller, db, id });
      const values = { ...columnsOf(change), ...more };
      return versioned(await changeLive(caller, { id, versions }, values));
    },

    async remove(caller, id, versions) {
      await changeLive(caller, { id, versions }, { deletedAt: new Date() });
    },

    async restore(caller, id, versions) {
      const expected = { id, versions, deleted: true };
      const values = { deletedAt: null };
      // One that is deleted between the statements begins again.
      for (;;) {
        const row = await repository.update(caller.tenantId, reach(caller), expected, values);
        if (row) return versioned(row);
        const there = await find(caller, id);
        if (versions && !versions.includes(there.version)) throw preconditionFailed();
        if (!there.deletedAt) return versioned(there);
      }
    },
  };
};
