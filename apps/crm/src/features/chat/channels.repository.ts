import { notFound } from '@tessera/http-kit';
import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';

const { sql } = Prisma;

export const channelKinds = ['public', 'private', 'direct'] as const;
export type ChannelKind = (typeof channelKinds)[number];

export const participantRoles = ['owner', 'member'] as const;
export type ParticipantRole = (typeof participantRoles)[number];

/** The part of a channel that rules read. */
export interface ChannelState {
  readonly id: string;
  readonly kind: ChannelKind;
}

/** A locked channel, with the position of its newest message. */
export interface LockedChannel extends ChannelState {
  readonly position: number;
}

/**
 * The channel, locked until the transaction ends. Everything that changes a channel locks it: after the messages that
 * it changes, and before the participants.
 */
export const lockChannel = async (db: TenantDb, channelId: string): Promise<LockedChannel> => {
  const [channel] = await db.query<LockedChannel>(sql`
    SELECT id, kind, last_position AS position FROM tenant_crm.channels
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${channelId}::uuid AND deleted_at IS NULL
    FOR NO KEY UPDATE`);
  if (!channel) throw notFound('The channel');
  return channel;
};

/** Locks the channel like `lockChannel` and returns the position of its next message. */
export const takePosition = async (
  db: TenantDb,
  channelId: string,
): Promise<ChannelState & { readonly position: number }> => {
  const [taken] = await db.query<ChannelState & { readonly position: number }>(sql`
    UPDATE tenant_crm.channels
    SET last_position = last_position + 1, last_message_at = greatest(last_message_at, statement_timestamp())
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${channelId}::uuid AND deleted_at IS NULL
    RETURNING id, kind, last_position AS position`);
  if (!taken) throw notFound('The channel');
  return taken;
};

/** The id of the direct channel of these people. */
export const findDirectChannel = async (
  db: TenantDb,
  directKey: string,
): Promise<string | undefined> => {
  const [channel] = await db.query<{ id: string }>(sql`
    SELECT id FROM tenant_crm.channels
    WHERE tenant_id = ${db.tenantId}::uuid AND direct_key = ${directKey}`);
  return channel?.id;
};

/** Whether a channel has messages that are not deleted. */
export const hasMessages = async (db: TenantDb, channelId: string): Promise<boolean> => {
  const messages = await db.query(sql`
    SELECT id FROM tenant_crm.messages
    WHERE tenant_id = ${db.tenantId}::uuid AND channel_id = ${channelId}::uuid
      AND deleted_at IS NULL
    LIMIT 1`);
  return messages.length > 0;
};
