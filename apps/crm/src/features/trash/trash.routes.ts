import type { Fields } from '@tessera/fields';
import type { RouteEntry, RouteTable } from '@tessera/http-kit';
import type { Database } from '../../database.ts';
import type { Kind, KindTypes } from '../../records/kind.ts';
import { recordRoutes } from '../../records/routes.ts';
import { createTrash, type TrashTypes, trashOf } from '../../records/trash.ts';
import type { WebhookEndpointKind } from '../webhooks/endpoints.kind.ts';
import {
  trashedBlogPost,
  trashedBot,
  trashedChannel,
  trashedCommunicationLog,
  trashedCompany,
  trashedContact,
  trashedImport,
  trashedKbArticle,
  trashedKbArticleComment,
  trashedLeaveRequest,
  trashedMessage,
  trashedPage,
  trashedProject,
  trashedTask,
  trashedTimeEntry,
} from './trash.kind.ts';

const DESCRIPTION =
  'The deleted records that the caller would see otherwise. They can be restored at any time: they are not deleted for good by themselves.';

/** The lists of what was deleted and can be restored, by resource. They come before the routes of one record. */
export const trashRoutes = (database: Database, webhookEndpoint: WebhookEndpointKind) => {
  const list = <T extends KindTypes, F extends Fields>(
    kind: Kind<TrashTypes<T, F>>,
    text = DESCRIPTION,
  ): RouteEntry =>
    recordRoutes(kind, createTrash(kind, database)).list({
      summary: `List the trash of ${kind.table.replaceAll('_', ' ')}`,
      description: text,
    });
  return {
    contacts: {
      listContactTrash: list(
        trashedContact,
        `${DESCRIPTION} Contacts that are merged into others are not listed.`,
      ),
    },
    companies: { listCompanyTrash: list(trashedCompany) },
    communicationLogs: { listCommunicationLogTrash: list(trashedCommunicationLog) },
    projects: { listProjectTrash: list(trashedProject) },
    tasks: { listTaskTrash: list(trashedTask) },
    timeEntries: { listTimeEntryTrash: list(trashedTimeEntry) },
    leaveRequests: { listLeaveRequestTrash: list(trashedLeaveRequest) },
    imports: { listImportTrash: list(trashedImport) },
    kbArticles: {
      listKbArticleTrash: list(trashedKbArticle),
      listKbArticleCommentTrash: list(
        trashedKbArticleComment,
        'The deleted comments of an article that the caller can restore: what they wrote and deleted, and all with `kb_articles.moderate`.',
      ),
    },
    blogPosts: { listBlogPostTrash: list(trashedBlogPost) },
    pages: {
      listPageTrash: list(
        trashedPage,
        `${DESCRIPTION} Pages that were deleted with another one are restored with it, and not listed.`,
      ),
    },
    chat: {
      listBotTrash: list(trashedBot),
      listChannelTrash: list(
        trashedChannel,
        'The deleted channels that the caller can restore: public ones, and private ones that they own.',
      ),
      listMessageTrash: list(
        trashedMessage,
        'The deleted messages of a channel that the caller can restore: their own, and those of others in a channel that they own.',
      ),
    },
    webhooks: { listWebhookEndpointTrash: list(trashOf(webhookEndpoint)) },
  } satisfies Readonly<Record<string, RouteTable>>;
};

export type TrashRoutes = ReturnType<typeof trashRoutes>;
