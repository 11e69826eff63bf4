import type { BotCaller } from '../../bots/bot-access.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Caller } from '../../http.ts';
import type { Scope } from '../../records/kind.ts';
import type { RecordRow } from '../../records/row.ts';

const { sql } = Prisma;

/** The part of a caller that decides which channels are visible. */
export type ChatViewer = Pick<Caller, 'tenantId' | 'userUuid'> & Partial<Pick<BotCaller, 'botId'>>;

/** Bots see the channels that they were added to, and no other. */
const channelsOfBot = (tenantId: string, botId: string): Scope<RecordRow> => ({
  condition: sql`id IN (
    SELECT channel_id FROM tenant_crm.channel_bots
    WHERE tenant_id = ${tenantId}::uuid AND bot_id = ${botId}::uuid
  )`,
});

/**
 * The ids of the channels that the caller participates in, as a subquery; deleted ones included. A client
 * participates in none.
 */
export const ownChannels = ({ tenantId, userUuid }: ChatViewer): Prisma.Sql => sql`(
  SELECT channel_id FROM tenant_crm.channel_participants
  WHERE tenant_id = ${tenantId}::uuid AND user_id = ${userUuid}::uuid
)`;

/**
 * The channels that the caller may see: public ones, and those that they participate in. System administrators
 * are no exception (decision C13).
 */
export const visibleChannels = (caller: ChatViewer): Scope<RecordRow> => {
  if (caller.botId !== undefined) return channelsOfBot(caller.tenantId, caller.botId);
  return {
    condition: sql`kind = 'public' OR id IN ${ownChannels(caller)}`,
    // In a tenant with many direct channels, few rows meet the condition: an array of ids is looked up in the primary key.
    listCondition: sql`id = ANY(ARRAY(
    SELECT id FROM tenant_crm.channels
    WHERE tenant_id = ${caller.tenantId}::uuid AND kind = 'public' AND deleted_at IS NULL
    UNION ALL ${ownChannels(caller)}
  ))`,
  };
};
