import { type HttpError, notFound } from '@tessera/http-kit';
import type { Database, TenantDb } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';
import type { Kind, KindTypes, Scope } from './kind.ts';
import { createRepository, type RecordRepository } from './repository.ts';
import type { ColumnValues } from './row.ts';
import { withoutIndex } from './row-conditions.ts';
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

/** Returns what makes the statement that checks whether a caller sees a record of the kind. */
export const visibleOf = <T extends KindTypes>(kind: Kind<T>): SelectVisible<T> => {
  const { parent } = kind;
  const repository = createRepository(kind);
  const above = parent && visibleOf(parent.kind);
  return (db, caller, keys) => {
    const { columns, condition } = kind.scope?.(caller) ?? {};
    const conditions = condition ? [sql`(${condition})`] : [];
    if (parent && above) {
      const below = sql`${raw(parent.column)} = (${above(db, caller, keys.slice(0, -1))})`;
      conditions.push(kind.key === 'id' ? withoutIndex(below) : below);
    }
    const scope: Scope<T['row']> = {
      ...(columns && { columns }),
      ...(conditions.length > 0 && { condition: Prisma.join(conditions, ' AND ') }),
    };
    return repository.selectId(db, scope, keys.at(-1) ?? '');
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
      const columns = { ...scope.columns, [parent.column]: found.id };
      return { db, scope: { ...scope, columns: columns as ColumnValues<T['row']> } };
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
