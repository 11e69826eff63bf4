import { type HttpError, notFound } from '@tessera/http-kit';
import type { Database, TenantDb } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';
import type { Kind, KindTypes, Scope } from './kind.ts';
import { createRepository, type RecordRepository } from './repository.ts';
import type { ColumnValues, RecordRow } from './row.ts';
import { type AcceptedVersion, checkVersion } from './versions.ts';

const { sql, raw } = Prisma;

/** Provides the rows of tenants: the database, or a transaction as `{ forTenant: () => transaction }`. */
export type TenantSource = Pick<Database, 'forTenant'>;

/** The keys of a child's parents, from the outermost to the direct parent. */
export type ParentKeys = readonly string[];

/** The rows of one kind that a caller may see and change. */
export interface OpenScope<T extends KindTypes> {
  readonly db: TenantDb;
  readonly scope: Scope<T['row']>;
}

/** What reads and changes of a kind share. */
export interface Access<T extends KindTypes> {
  readonly kind: Kind<T>;
  readonly repository: RecordRepository<T>;
  /**
   * For a child kind, finds the direct parent in one statement. Throws 404 unless the caller sees each of the
   * parents.
   */
  open(caller: T['caller']): Promise<OpenScope<T>>;
  /** The live row; throws 404 if it does not exist, and 412 if it has none of the `versions`. */
  findLive(
    open: OpenScope<T>,
    id: string,
    options?: {
      readonly versions?: readonly AcceptedVersion[] | undefined;
      readonly lock?: 'lock';
    },
  ): Promise<T['row']>;
  missing(): HttpError;
  /** Locks the parent of a child kind until the transaction ends. */
  lockParent(db: TenantDb, scope: Scope<T['row']>): Promise<void>;
}

/**
 * The statement that finds the id of a live record which the caller sees, like each of its parents: all of them
 * are subqueries of this statement. The last of the keys is that of the record.
 */
export type SelectVisible<T extends KindTypes> = (
  db: TenantDb,
  caller: T['caller'],
  keys: ParentKeys,
) => Prisma.Sql;

/** The part of a scope that is below a parent; its id may be SQL. */
const below = <Row extends RecordRow>(
  scope: Scope<Row>,
  column: string,
  id: string | Prisma.Sql,
): Scope<Row> => {
  const columns = { ...scope.columns, [column]: id };
  return { ...scope, columns: columns as ColumnValues<Row> };
};

/** Returns what makes the statement that checks whether a caller sees a record of the kind. */
export const visibleOf = <T extends KindTypes>(kind: Kind<T>): SelectVisible<T> => {
  const { parent } = kind;
  const repository = createRepository(kind);
  const above = parent && visibleOf(parent.kind);
  return (db, caller, keys) => {
    const own: Scope<T['row']> = kind.scope?.(caller) ?? {};
    if (!parent || !above) return repository.selectId(db, own, keys.at(-1) ?? '');
    const parentId = sql`(${above(db, caller, keys.slice(0, -1))})`;
    return repository.selectId(db, below(own, parent.column, parentId), keys.at(-1) ?? '');
  };
};

const depthOf = ({ parent }: Kind): number => (parent ? 1 + depthOf(parent.kind) : 0);

/**
 * Access to the rows of a kind. What does not depend on the request is made once; the returned function gives
 * access to all rows, or for a child kind to those below a parent.
 */
export const createAccess = <T extends KindTypes>(
  kind: Kind<T>,
  source: TenantSource,
): ((...parentKeys: ParentKeys) => Access<T>) => {
  const { name, parent } = kind;
  const repository = createRepository(kind);
  const depth = depthOf(kind);
  const selectParent = parent && visibleOf(parent.kind);

  const missing = (): HttpError => notFound(`The ${name}`);

  return (...parentKeys) => ({
    kind,
    repository,
    missing,

    async open(caller) {
      const db = source.forTenant(caller.tenantId);
      const scope: Scope<T['row']> = kind.scope?.(caller) ?? {};
      if (!parent || !selectParent) return { db, scope };
      if (parentKeys.length !== depth) {
        throw new TypeError(`A ${name} is reached through within() with ${depth} keys.`);
      }
      const [found] = await db.query<{ id: string }>(selectParent(db, caller, parentKeys), {
        planOnce: true,
      });
      if (!found) throw notFound(`The ${parent.kind.name}`);
      return { db, scope: below(scope, parent.column, found.id) };
    },

    async lockParent(db, { columns }) {
      if (!parent) return;
      const { [parent.column]: id } = (columns ?? {}) as Readonly<Record<string, unknown>>;
      await db.query(sql`
        SELECT id FROM ${raw(`tenant_crm.${parent.kind.table}`)}
        WHERE tenant_id = ${db.tenantId}::uuid AND id = ${id}::uuid FOR NO KEY UPDATE`);
    },

    async findLive({ db, scope }, id, { versions, lock } = {}) {
      const row = await repository.find(db, scope, id, lock);
      if (!row || row.deleted_at) throw missing();
      checkVersion(row, versions);
      return row;
    },
  });
};
