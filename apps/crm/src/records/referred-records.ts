import { bool, described, shape, withDefault } from '@tessera/fields';
import { empty, HttpError, type RouteEntry } from '@tessera/http-kit';
import type { Database, TenantDb } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';
import type { Caller, CrmPermission } from '../http.ts';
import type { Kind, KindTypes } from './kind.ts';
import { withArticle } from './paths.ts';
import type { Records } from './records.ts';
import { requirePermission } from './require-permission.ts';
import { createFrame, declare } from './route-frame.ts';
import { changeProblems } from './versions.ts';

const { join, raw, sql } = Prisma;

/** References are counted up to this number. */
const MOST = 10_000;

/** What refers to records of a kind. */
export interface Referring {
  readonly table: string;
  readonly column: string;
  /** What the caller needs to delete these with the record. Default: nothing, because they stay. */
  readonly permission?: CrmPermission;
}

/** How many live rows of each table refer to a record. */
const countReferring = async (
  db: TenantDb,
  id: string,
  referring: readonly Referring[],
): Promise<ReadonlyMap<Referring, number>> => {
  const counts = referring.map(
    ({ table, column }) => sql`(
      SELECT count(*)::int FROM (
        SELECT FROM ${raw(`tenant_crm.${table}`)}
        WHERE tenant_id = ${db.tenantId}::uuid AND ${raw(column)} = ${id}::uuid AND deleted_at IS NULL
        LIMIT ${MOST}
      ) AS found
    )`,
  );
  const [row] = await db.query<{ counts: number[] }>(sql`SELECT ARRAY[${join(counts)}] AS counts`);
  return new Map(referring.map((one, index) => [one, row?.counts[index] ?? 0]));
};

/** Records to which others refer. */
export interface ReferredRecords<T extends KindTypes> {
  /** Deletes only records to which none refers; otherwise `has_references`, which is 409 with their numbers. */
  readonly records: Records<T>;
  /** Deletes a record to which others refer. */
  deleteReferred: Records<T>['delete'];
}

/** Makes the deletion of records to which others refer explicit (decision C7). */
export const referredRecords = <T extends KindTypes & { readonly caller: Caller }>(
  { name }: Pick<Kind<T>, 'name'>,
  records: Records<T>,
  database: Pick<Database, 'transaction'>,
  referring: readonly Referring[],
): ReferredRecords<T> => {
  /** Once the record is deleted, nothing can refer to it any more. */
  const deleteThen = (
    check: (caller: Caller, id: string, counts: ReadonlyMap<Referring, number>) => void,
  ): Records<T>['delete'] => {
    return (caller, id, versions) =>
      database.transaction(caller.tenantId, async (db) => {
        await records.delete(caller, id, versions);
        check(caller, id, await countReferring(db, id, referring));
      });
  };
  return {
    records: {
      ...records,
      delete: deleteThen((_caller, _id, counts) => {
        const found = [...counts].filter(([, count]) => count > 0);
        if (found.length === 0) return;
        const numbers = found.map(([{ table }, count]) => [table, count] as const);
        const listed = numbers.map(([table, count]) => `${table.replaceAll('_', ' ')}: ${count}`);
        const message = `Records refer to the ${name} (${listed.join(', ')}). With force=true, it is deleted nevertheless.`;
        throw new HttpError(409, 'has_references', message, {
          details: { references: Object.fromEntries(numbers) },
        });
      }),
    },
    deleteReferred: deleteThen((caller, id, counts) => {
      for (const [{ permission }, count] of counts) {
        if (permission && count > 0) requirePermission(caller, permission, { type: name, id });
      }
    }),
  };
};

/** `DELETE .../{id}?force=true`. */
export const deleteReferredRoute = <T extends KindTypes & { readonly caller: Caller }>(
  kind: Kind<T>,
  { records, deleteReferred }: ReferredRecords<T>,
  description: string,
): RouteEntry => {
  const { onOne, keyIn, accepted } = createFrame(kind, records);
  return declare({
    ...onOne('delete'),
    method: 'delete',
    summary: `Delete ${withArticle(kind.name)}`,
    description,
    query: shape({
      force: described(
        withDefault(bool(), false),
        'Whether to delete it although records refer to it',
      ),
    }),
    responses: { 204: empty },
    requestHeaders: ['If-Match'],
    problems: {
      ...changeProblems,
      409: `Records refer to it and \`force\` is not true; \`references\` has their numbers, up to ${MOST} each`,
    },
    handler: async ({ caller, params, query: { force }, req, reply }) => {
      const remove = force ? deleteReferred : records.delete;
      await remove(caller as T['caller'], keyIn(params), accepted(req));
      return reply(204);
    },
  });
};
