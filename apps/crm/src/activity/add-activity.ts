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

/** Adds a row to the activity log for each entry, in the transaction of `db`, which must be that of the actions. */
export const addActivities = async (
  db: TenantDb,
  actor: Actor,
  entries: readonly ActivityEntry[],
): Promise<void> => {
  if (entries.length === 0) return;
  const rows = entries.map(({ action, resourceType, resourceId, details = {} }) => ({
    id: uuidv7(),
    action,
    resource_type: resourceType,
    resource_id: resourceId,
    details,
  }));
  await db.query(sql`
    INSERT INTO tenant_crm.activities (tenant_id, id, created_at, updated_at, action, resource_type, resource_id,
      actor_type, user_id, client_id, token_id, impersonator_id, details)
    SELECT ${db.tenantId}::uuid, id, now, now, action, resource_type, resource_id,
      ${actor.type}, ${actor.userId}::uuid, ${actor.clientId}, ${actor.tokenId}, ${actor.impersonatorId}, details
    FROM (SELECT clock_timestamp() AS now) AS clock,
      jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        AS entry (id uuid, action text, resource_type text, resource_id uuid, details jsonb)`);
};

/** Adds a row to the activity log in the transaction of `db`, which must be that of the action. */
export const addActivity = (db: TenantDb, actor: Actor, entry: ActivityEntry): Promise<void> =>
  addActivities(db, actor, [entry]);
