import { v7 as uuidv7 } from 'uuid';
import type { TenantDb } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';
import type { Actor } from '../records/actor.ts';

const { sql } = Prisma;

/** What a row of the activity log says of an action. */
export interface ActivityEntry {
  /** What was done, in the past tense: `published`. */
  readonly action: string;
  /** The resource of the record, as in the names of permissions: `blog.posts`. */
  readonly resourceType: string;
  readonly resourceId: string;
  /** What else is known of the action; no secrets. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Adds a row to the activity log in the transaction of `db`, which must be that of the action. */
export const addActivity = async (
  db: TenantDb,
  actor: Actor,
  { action, resourceType, resourceId, details = {} }: ActivityEntry,
): Promise<void> => {
  await db.query(sql`
    INSERT INTO tenant_crm.activities (tenant_id, id, created_at, updated_at, action, resource_type, resource_id,
      actor_type, user_id, client_id, token_id, impersonator_id, details)
    SELECT ${db.tenantId}::uuid, ${uuidv7()}::uuid, now, now, ${action}, ${resourceType}, ${resourceId}::uuid,
      ${actor.type}, ${actor.userId}::uuid, ${actor.clientId}, ${actor.tokenId}, ${actor.impersonatorId},
      ${JSON.stringify(details)}::jsonb
    FROM (SELECT clock_timestamp() AS now) AS clock`);
};
