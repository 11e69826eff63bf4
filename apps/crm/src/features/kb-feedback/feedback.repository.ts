import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';

const { sql } = Prisma;

/** The id of a user's vote on an article; undefined if there is none. */
export const findVote = async (
  db: TenantDb,
  { articleId, userId }: { readonly articleId: string; readonly userId: string },
): Promise<string | undefined> => {
  const [found] = await db.query<{ id: string }>(sql`
    SELECT id FROM tenant_crm.kb_article_feedback
    WHERE tenant_id = ${db.tenantId}::uuid AND article_id = ${articleId}::uuid
      AND user_id = ${userId}::uuid`);
  return found?.id;
};
