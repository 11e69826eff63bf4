import { Prisma } from '../../generated/prisma/client.ts';
import type { ChatCaller } from './chat-caller.ts';
import { authorOf } from './messages.rules.ts';

const { join, raw, sql } = Prisma;

/** The ids of the channels that the caller owns, as a subquery. */
const ownedChannels = ({ tenantId, userUuid }: ChatCaller): Prisma.Sql => sql`(
  SELECT channel_id FROM tenant_crm.channel_participants
  WHERE tenant_id = ${tenantId}::uuid AND user_id = ${userUuid}::uuid AND role = 'owner'
)`;

/** The deleted channels that the caller may restore, of those that they see. */
export const restorableChannels = (caller: ChatCaller): Prisma.Sql =>
  sql`(kind = 'public' OR id IN ${ownedChannels(caller)})`;

/** The deleted messages that the caller may restore: what they said is for nobody else. */
export const restorableMessages = (caller: ChatCaller): Prisma.Sql => {
  const own = Object.entries(authorOf(caller)).map(
    ([column, value]) => sql`${raw(column)}::text = ${value}::text`,
  );
  return sql`(
    (body IS NOT NULL OR file_content_id IS NOT NULL OR recalled_at IS NOT NULL)
    AND ((${join(own, ' AND ')}) OR channel_id IN ${ownedChannels(caller)})
  )`;
};
