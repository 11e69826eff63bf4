import { described, named, nullable, type Out, oneOf, rawText, shape, uuid } from '@tessera/fields';
import type { TenantDb } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';

const { raw, sql } = Prisma;

/** Who deleted a record, as the history says. */
export const Deleter = named(
  'Deleter',
  shape({
    actor_type: oneOf('user', 'service_account', 'client', 'bot', 'system'),
    user_id: described(nullable(uuid()), 'The user, or the user of the service account'),
    client_id: nullable(rawText(200)),
    impersonator_id: described(nullable(rawText(200)), 'The administrator who acted as the user'),
  }),
);

type Deletion = Out<typeof Deleter> & { readonly record_id: string };

/** Who deleted records of a table last, by the ids of the records. */
export const readDeleters = async (
  db: TenantDb,
  table: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Out<typeof Deleter>>> => {
  if (ids.length === 0) return new Map();
  const found = await db.read<Deletion>(sql`
    SELECT deleted.id AS record_id, actor_type, user_id, client_id, impersonator_id
    FROM unnest(${[...ids]}::uuid[]) AS deleted (id) CROSS JOIN LATERAL (
      SELECT actor_type, user_id, client_id, impersonator_id FROM ${raw(db.readSchema)}.record_changes
      WHERE tenant_id = ${db.tenantId}::uuid AND table_name = ${table} AND record_id = deleted.id
        AND action = 'delete'
      ORDER BY changed_at DESC, version DESC LIMIT 1
    ) AS change`);
  return new Map(found.map(({ record_id, ...deleter }) => [record_id, deleter]));
};
