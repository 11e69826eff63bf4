import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { type Cause, recordChanges } from '../../records/record-changes.ts';
import type { ParticipantRole } from './channels.repository.ts';
import { appendEvent } from './chat-events.ts';

const { sql } = Prisma;

/** The role of a user in a channel; undefined if they do not participate in it. */
export const roleIn = async (
  db: TenantDb,
  channelId: string,
  userId: string | null,
): Promise<ParticipantRole | undefined> => {
  const [participant] = await db.query<{ role: ParticipantRole }>(sql`
    SELECT role FROM tenant_crm.channel_participants
    WHERE tenant_id = ${db.tenantId}::uuid AND channel_id = ${channelId}::uuid
      AND user_id = ${userId}::uuid`);
  return participant?.role;
};

/** Whether a channel has an owner besides one user; any owner if that is null. */
export const hasOtherOwner = async (
  db: TenantDb,
  channelId: string,
  userId: string | null,
): Promise<boolean> => {
  const owners = await db.query(sql`
    SELECT user_id FROM tenant_crm.channel_participants
    WHERE tenant_id = ${db.tenantId}::uuid AND channel_id = ${channelId}::uuid AND role = 'owner'
      AND user_id IS DISTINCT FROM ${userId}::uuid
    LIMIT 1`);
  return owners.length > 0;
};

interface NewParticipants {
  readonly channelId: string;
  readonly userIds: readonly string[];
  readonly role: ParticipantRole;
}

/** Adds users to a locked channel, except for those who participate in it already. */
export const addParticipants = async (
  db: TenantDb,
  cause: Cause,
  { channelId, userIds, role }: NewParticipants,
): Promise<void> => {
  if (userIds.length === 0) return;
  const added = await db.query<{ user_id: string }>(sql`
    WITH added AS (
      INSERT INTO tenant_crm.channel_participants
        (tenant_id, id, channel_id, user_id, role, read_position)
      SELECT ${db.tenantId}::uuid, gen_random_uuid(), ${channelId}::uuid, user_id, ${role}::text, (
        SELECT last_position FROM tenant_crm.channels
        WHERE tenant_id = ${db.tenantId}::uuid AND id = ${channelId}::uuid
      )
      FROM unnest(${userIds}::uuid[]) AS user_id
      ON CONFLICT (tenant_id, channel_id, user_id) DO NOTHING
      RETURNING id, version, user_id
    ), recorded AS (
      ${recordChanges(db, cause, { table: 'channel_participants', from: sql`added` })}
    )
    SELECT user_id FROM added`);
  for (const { user_id } of added) {
    await appendEvent(db, { channelId, type: 'participant.added', payload: { user_id } });
  }
};
