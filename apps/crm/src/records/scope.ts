import { type HttpError, notFound } from '@tessera/http-kit';
import type { Database, TenantDb } from '../database.ts';
import type { Kind, KindTypes, Scope } from './kind.ts';
import { createRepository, type RecordRepository } from './repository.ts';
import type { ColumnValues } from './row.ts';
import { preconditionFailed } from './versions.ts';

/** Provides the rows of tenants: the database, or a transaction as `{ forTenant: () => transaction }`. */
export type TenantSource = Pick<Database, 'forTenant'>;

/** The rows of one kind that a caller may see and change. */
export interface OpenScope<T extends KindTypes> {
  readonly db: TenantDb;
  readonly scope: Scope<T['row']>;
}

/** What reads and changes of a kind share. */
export interface Access<T extends KindTypes> {
  readonly kind: Kind<T>;
  readonly repository: RecordRepository<T>;
  /** Throws 404 if the parent of a child kind does not exist in the caller's scope. */
  open(caller: T['caller']): Promise<OpenScope<T>>;
  /** The live row; throws 404 if it does not exist, and 412 if it has none of the `versions`. */
  findLive(
    open: OpenScope<T>,
    id: string,
    options?: { readonly versions?: readonly number[] | undefined; readonly lock?: 'lock' },
  ): Promise<T['row']>;
  missing(): HttpError;
}

/** Throws 412 if a row has none of the versions. */
export const checkVersion = (
  { version }: { readonly version: number },
  versions: readonly number[] | undefined,
): void => {
  if (versions && !versions.includes(version)) throw preconditionFailed();
};

/**
 * Access to the rows of a kind. What does not depend on the request is made once; the returned function gives
 * access to all rows, or for a child kind to those below a parent.
 */
export const createAccess = <T extends KindTypes>(
  kind: Kind<T>,
  source: TenantSource,
): ((parentId?: string) => Access<T>) => {
  const { name, parent } = kind;
  const repository = createRepository(kind);
  const parents = parent && createAccess(parent.kind, source)();

  const missing = (): HttpError => notFound(`The ${name}`);

  const scopeOf = (caller: T['caller'], parentId: string | undefined): Scope<T['row']> => {
    const scope = kind.scope?.(caller) ?? {};
    if (!parent) return scope;
    if (parentId === undefined) throw new TypeError(`A ${name} is reached through within().`);
    const columns = { ...scope.columns, [parent.column]: parentId };
    return { ...scope, columns: columns as ColumnValues<T['row']> };
  };

  return (parentId) => ({
    kind,
    repository,
    missing,

    async open(caller) {
      const scope = scopeOf(caller, parentId);
      if (parents && parentId !== undefined) {
        await parents.findLive(await parents.open(caller), parentId);
      }
      return { db: source.forTenant(caller.tenantId), scope };
    },

    async findLive({ db, scope }, id, { versions, lock } = {}) {
      const row = await repository.find(db, scope, id, lock);
      if (!row || row.deleted_at) throw missing();
      checkVersion(row, versions);
      return row;
    },
  });
};
