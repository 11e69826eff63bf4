import type { TenantDb } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';
import type { Caller } from '../http.ts';
import { requirePermission } from '../records/require-permission.ts';
import type { ContentResource, ContentTable } from './content-types.ts';

const { raw, sql } = Prisma;

const resources: Readonly<Record<ContentTable, ContentResource>> = {
  kb_articles: 'kb_articles',
  blog_posts: 'blog.posts',
  pages: 'pages',
};

/** What a change of documents touches. */
interface TouchedDocuments {
  readonly caller: Caller;
  readonly db: TenantDb;
  /** The ids of the documents, as a subquery. */
  readonly documents: Prisma.Sql;
  /** What the caller changes, for the error. */
  readonly resource: { readonly type: string; readonly id: string };
}

/**
 * 403 if one of the documents is the cover of a record that is published, or will be, and the caller may not publish it:
 * the public sees the current version of the document.
 */
export const requireCoversChangeable = async ({
  caller,
  db,
  documents,
  resource,
}: TouchedDocuments): Promise<void> => {
  for (const [table, name] of Object.entries(resources)) {
    const permission = `${name}.publish` as const;
    if (caller.can(permission)) continue;
    const covered = await db.query(sql`
      SELECT id FROM ${raw(`tenant_crm.${table}`)}
      WHERE tenant_id = ${db.tenantId}::uuid AND cover_document_id IN (${documents})
        AND deleted_at IS NULL AND status IN ('published', 'scheduled') LIMIT 1`);
    if (covered.length > 0) requirePermission(caller, permission, resource);
  }
};
