import { HttpError } from '@tessera/http-kit';
import type { TenantDb } from '../database.ts';
import type { Kind, KindTypes, Scope } from './kind.ts';
import type { Access } from './scope.ts';
import { lockUntilEnd } from './transaction-lock.ts';

/**
 * Throws 409 if a tenant, or a parent record, cannot have this many more records, whether or not the caller sees those that it
 * has. From half of the maximum on, transactions that add some wait for one another, so that they do not exceed it together.
 */
export const requireBelowMaximum = async <T extends KindTypes>(
  { kind: { maximum, table }, repository }: Access<T>,
  db: TenantDb,
  { columns }: Scope<T['row']>,
  more = 1,
): Promise<void> => {
  if (maximum === undefined) return;
  const count = async (): Promise<number> =>
    more + (await repository.countUpTo(db, columns ?? {}, maximum));
  if ((await count()) <= maximum / 2) return;
  await lockUntilEnd(db, `${table} ${db.tenantId} ${JSON.stringify(columns ?? {})}`);
  if ((await count()) <= maximum) return;
  throw new HttpError(409, 'conflict', `The limit of ${maximum} has been reached.`, {
    details: { maximum },
  });
};

/** The problems of a route that adds a record of a kind, with the one that the maximum causes. */
export const withMaximum = <P>(
  { maximum }: Pick<Kind, 'maximum'>,
  problems: Readonly<Record<number, P>> = {},
): Readonly<Record<number, P | string>> => {
  if (maximum === undefined) return problems;
  const reasons = [problems[409], `The limit of ${maximum} records is reached`];
  return { ...problems, 409: reasons.filter((reason) => reason !== undefined).join('; ') };
};
