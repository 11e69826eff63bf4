import { Prisma } from '../../generated/prisma/client.ts';
import { trashOf } from '../../records/trash.ts';
import { blogPost } from '../blog-posts/blog-posts.kind.ts';
import { bot } from '../chat/bots.kind.ts';
import { channel } from '../chat/channels.kind.ts';
import { message } from '../chat/messages.kind.ts';
import { restorableChannels, restorableMessages } from '../chat/restorable.ts';
import { communicationLog } from '../communication-logs/communication-logs.kind.ts';
import { company } from '../companies/companies.kind.ts';
import { contact } from '../contacts/contacts.kind.ts';
import { importKind } from '../imports/imports.kind.ts';
import { kbArticle } from '../kb-articles/kb-articles.kind.ts';
import { comment } from '../kb-comments/comments.kind.ts';
import { restorableComments } from '../kb-comments/comments.visibility.ts';
import { leaveRequest } from '../leave-requests/leave-requests.kind.ts';
import { project } from '../projects/projects.kind.ts';
import { page } from '../site-pages/pages.kind.ts';
import { task } from '../tasks/tasks.kind.ts';
import { timeEntry } from '../time-entries/time-entries.kind.ts';

const { sql } = Prisma;

/** Without those that are merged into another one: undoing the merge brings them back. */
export const trashedContact = trashOf(contact, {
  restorable: ({ tenantId }) => sql`NOT EXISTS (
    SELECT FROM tenant_crm.contact_merges
    WHERE contact_merges.tenant_id = ${tenantId}::uuid AND merged_id = contacts.id AND undone_at IS NULL
  )`,
});
export const trashedCompany = trashOf(company);
export const trashedCommunicationLog = trashOf(communicationLog);
export const trashedProject = trashOf(project);
export const trashedTask = trashOf(task);
export const trashedTimeEntry = trashOf(timeEntry);
export const trashedLeaveRequest = trashOf(leaveRequest);
export const trashedImport = trashOf(importKind);
export const trashedKbArticle = trashOf(kbArticle);
export const trashedKbArticleComment = trashOf(comment, { restorable: restorableComments });
export const trashedBlogPost = trashOf(blogPost);
/** Pages that were deleted with another one are restored with it. */
export const trashedPage = trashOf(page, { restorable: () => sql`deleted_with IS NULL` });
export const trashedBot = trashOf(bot);
export const trashedChannel = trashOf(channel, { restorable: restorableChannels });
export const trashedMessage = trashOf(message, { restorable: restorableMessages });
