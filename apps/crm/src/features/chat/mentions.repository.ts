import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';

const { sql } = Prisma;

interface Mentioning {
  readonly id: string;
  readonly channel_id: string;
  readonly position: number;
  readonly mentions: readonly string[];
  readonly deleted_at: Date | null;
}

/** Stores whom a message mentions, which is nobody once it is deleted. */
export const storeMentions = async (
  db: TenantDb,
  before: Mentioning | undefined,
  message: Mentioning,
): Promise<void> => {
  const shown = (of: Mentioning | undefined): readonly string[] =>
    !of || of.deleted_at ? [] : of.mentions;
  const [former, users] = [shown(before), shown(message)];
  if (former.length === 0 && users.length === 0) return;
  await db.query(sql`
    DELETE FROM tenant_crm.message_mentions
    WHERE tenant_id = ${db.tenantId}::uuid AND message_id = ${message.id}::uuid
      AND user_id <> ALL(${users}::uuid[])`);
  await db.query(sql`
    INSERT INTO tenant_crm.message_mentions (tenant_id, message_id, user_id, channel_id, position)
    SELECT ${db.tenantId}::uuid, ${message.id}::uuid, user_id, ${message.channel_id}::uuid,
      ${message.position}::bigint FROM unnest(${users}::uuid[]) AS user_id
    ON CONFLICT (tenant_id, message_id, user_id) DO NOTHING`);
};
