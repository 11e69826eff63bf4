import { HttpError } from '@tessera/http-kit';
import type { TenantDb } from '../database.ts';
import type { KindTypes, Scope } from './kind.ts';
import type { Access } from './scope.ts';

/** Throws 409 if the scope cannot hold this many more records. */
export const requireBelowMaximum = async <T extends KindTypes>(
  { kind: { maximum }, repository }: Access<T>,
  db: TenantDb,
  scope: Scope<T['row']>,
  more = 1,
): Promise<void> => {
  if (maximum === undefined) return;
  if ((await repository.countLocked(db, scope)) + more <= maximum) return;
  throw new HttpError(409, 'conflict', `The limit of ${maximum} has been reached.`);
};
