import { clamdAddress, createClamd } from '@tessera/clamd';
import { createContentWorker } from '@tessera/content-worker';
import type { Channel } from '@tessera/contracts';
import { Exports } from '@tessera/http-kit';
import { registerCaches } from '@tessera/telemetry/metrics';
import {
  publicationAccessListener,
  publicationHandler,
  publishedKind,
} from './content/publishing/scheduled-publications.ts';
import type { Context } from './context.ts';
import type { Connections } from './database.ts';
import { type ActivityLog, activity } from './features/activity/activity.kind.ts';
import { type BlogPosts, blogPost } from './features/blog-posts/blog-posts.kind.ts';
import { channelFilePurgeHandler } from './features/chat/channel-files.ts';
import { type Chat, createChat } from './features/chat/chat.service.ts';
import {
  followMessageScan,
  messageFilePurgeHandler,
} from './features/chat/message-files.service.ts';
import {
  type CommunicationLogs,
  communicationLog,
} from './features/communication-logs/communication-logs.kind.ts';
import { createCompanies, type ReferredCompanies } from './features/companies/companies.service.ts';
import { type Contacts, contact } from './features/contacts/contacts.kind.ts';
import { recordsAboutContacts } from './features/contacts/merged-contacts.ts';
import { type ContactMerges, createContactMerges } from './features/contacts/merges.service.ts';
import {
  createPreviews,
  type PreviewService,
} from './features/content-previews/previews.service.ts';
import { type CustomFields, customField } from './features/custom-fields/custom-fields.kind.ts';
import { createLinks, type LinkService } from './features/document-links/links.service.ts';
import { createDocuments, type DocumentService } from './features/documents/documents.service.ts';
import { purgeHandler } from './features/documents/purge.ts';
import { followScan } from './features/documents/scans.repository.ts';
import { uploadRemovalHandler } from './features/documents/uploads/upload-removal.ts';
import { createUploads, type Uploads } from './features/documents/uploads/uploads.service.ts';
import { type Imports, importKind } from './features/imports/imports.kind.ts';
import { importHandler, uploadExpiryHandler } from './features/imports/run-import.ts';
import { senderAccessListener, UploadSenders } from './features/imports/sender-access.ts';
import { createUpload, type Upload } from './features/imports/upload.ts';
import { withArticleCounts } from './features/kb-articles/article-counts.ts';
import { type KbArticles, kbArticle } from './features/kb-articles/kb-articles.kind.ts';
import { type CommentService, createComments } from './features/kb-comments/comments.service.ts';
import { createFeedback, type FeedbackService } from './features/kb-feedback/feedback.service.ts';
import { type LeaveRequests, leaveRequest } from './features/leave-requests/leave-requests.kind.ts';
import {
  type AccountTests,
  createAccountTests,
} from './features/messaging-accounts/account-tests.service.ts';
import {
  type AccountService,
  declareAccounts,
} from './features/messaging-accounts/accounts.kind.ts';
import { createOrphans, type OrphanService } from './features/orphans/orphans.service.ts';
import { type ProjectMembers, projectMember } from './features/projects/project-members.kind.ts';
import { createProjects, type ReferredProjects } from './features/projects/projects.service.ts';
import { BuiltTexts } from './features/public-reading/built-texts.ts';
import { createReading, type Reading } from './features/public-reading/reading.service.ts';
import { Sitemaps } from './features/public-reading/sitemap.ts';
import { createSites } from './features/public-reading/sites.service.ts';
import { page } from './features/site-pages/pages.kind.ts';
import { createPages, type PageService } from './features/site-pages/pages.service.ts';
import { contactTags, contentTags } from './features/tags/tag-families.ts';
import { type ContactTags, type ContentTags, createTags } from './features/tags/tags.service.ts';
import { createTasks, type Tasks } from './features/tasks/tasks.service.ts';
import { type TimeEntries, timeEntry } from './features/time-entries/time-entries.kind.ts';
import { createTimelines, type Timelines } from './features/timelines/timelines.service.ts';
import { openWebhooks } from './features/webhooks/open-webhooks.ts';
import type { Webhooks } from './features/webhooks/webhooks.service.ts';
import { contentReadingHandler, readNewContent } from './files/content-reading.ts';
import { createFiles, type Files, type NewContentHook } from './files/files.ts';
import { fileScanHandler, processNewContent } from './files/processing.ts';
import { fileRemovalHandler } from './files/removal.ts';
import { createRecords } from './records/records.ts';

/** The services of CRM, one for each feature. */
export interface Services {
  readonly activity: ActivityLog;
  readonly blogPosts: BlogPosts;
  readonly chat: Chat;
  readonly contacts: Contacts;
  readonly contactMerges: ContactMerges;
  readonly communicationLogs: CommunicationLogs;
  readonly companies: ReferredCompanies;
  readonly customFields: CustomFields;
  readonly documents: DocumentService;
  readonly documentLinks: LinkService;
  readonly uploads: Uploads;
  readonly kbArticles: KbArticles;
  readonly kbComments: CommentService;
  readonly kbFeedback: FeedbackService;
  readonly leaveRequests: LeaveRequests;
  readonly imports: { readonly imports: Imports; readonly upload: Upload };
  readonly accountTests: AccountTests;
  readonly messagingAccounts: Readonly<Record<Channel, AccountService>>;
  readonly orphans: OrphanService;
  readonly pages: PageService;
  readonly previews: PreviewService;
  readonly projects: ReferredProjects;
  readonly projectMembers: ProjectMembers;
  /** What tenants have published. */
  readonly reading: Reading;
  readonly sitemaps: Sitemaps;
  readonly feedTexts: BuiltTexts;
  readonly tags: ContactTags;
  readonly contentTags: ContentTags;
  readonly tasks: Tasks;
  readonly timeEntries: TimeEntries;
  readonly timelines: Timelines;
  readonly webhooks: Webhooks;
  /** The limits that all exports share. */
  readonly exports: Exports;
}

/** How many exports one caller may run concurrently. */
const EXPORTS_PER_CALLER = 2;

/** Creates the services from the context. */
export const createServices = (context: Context): Services => {
  const { access, activeTenants, config, database, fileStore, jobs, logger, vault } = context;
  const accountsOf = (channel: Channel): AccountService => {
    const kind = declareAccounts(channel, vault);
    return { kind, accounts: createRecords(kind, database) };
  };
  const projects = createProjects(database);
  const imports = createRecords(importKind, database);
  const { maxBytes, defaultQuota, clamdUrl } = config.files;
  const scanner = clamdUrl === undefined ? undefined : createClamd(clamdAddress(clamdUrl));
  const afterScan: NewContentHook[] = [readNewContent(jobs)];
  const { background } = database;
  const filesOn = (connections: Connections): Files =>
    createFiles({
      database: connections,
      store: fileStore,
      jobs,
      maxBytes,
      defaultQuota,
      onNewContent: [processNewContent({ jobs, scanner, afterScan })],
    });
  const files = filesOn(database);
  // What jobs use; their connections are not those of requests.
  const ofJobs = { database: background, files: filesOn(background) };
  jobs.register(
    fileScanHandler({
      ...ofJobs,
      scanner,
      afterScan,
      followers: [followScan, followMessageScan],
      logger,
      registry: context.metrics.registry,
    }),
  );
  jobs.register(fileRemovalHandler({ database: background, store: fileStore }));
  jobs.register(contentReadingHandler({ ...ofJobs, worker: createContentWorker(), jobs, logger }));
  jobs.register(purgeHandler(ofJobs));
  jobs.register(messageFilePurgeHandler(ofJobs));
  jobs.register(channelFilePurgeHandler(ofJobs));
  jobs.register(uploadRemovalHandler({ ...ofJobs, store: fileStore }));
  const sites = createSites({ database, access, activeTenants });
  const sitemaps = new Sitemaps(sites, config.publicUrl);
  const feedTexts = new BuiltTexts();
  registerCaches(context.metrics.registry, {
    ...access.caches,
    feeds: feedTexts.use,
    sitemaps: sitemaps.texts.use,
  });
  const documents = createDocuments({ database, files, jobs });
  jobs.register(importHandler({ database: background, access, logger, jobs }));
  jobs.register(uploadExpiryHandler({ database: background }));
  const senders = new UploadSenders();
  access.onEvent(senderAccessListener({ database: background, access, senders, logger }));
  const blogPosts = createRecords(blogPost, database);
  const kbArticles = createRecords(kbArticle, database);
  const pages = createPages(database);
  const publications = {
    database: background,
    access,
    kinds: [
      publishedKind(blogPost, createRecords(blogPost, background)),
      publishedKind(kbArticle, createRecords(kbArticle, background)),
      publishedKind(page, createPages(background).pages),
    ],
  };
  jobs.register(publicationHandler({ ...publications, jobs }));
  access.onEvent(publicationAccessListener({ ...publications, logger }));
  return {
    activity: createRecords(activity, database),
    blogPosts,
    chat: createChat({ database, files, jobs }),
    contacts: createRecords(contact, database),
    contactMerges: createContactMerges(database),
    communicationLogs: recordsAboutContacts(communicationLog, database),
    companies: createCompanies(database),
    customFields: createRecords(customField, database),
    documents,
    documentLinks: createLinks({ database, documents, access }),
    uploads: createUploads({ database, documents, files, store: fileStore, jobs }),
    kbArticles: withArticleCounts(kbArticles, database),
    kbComments: createComments(database),
    kbFeedback: createFeedback(database),
    leaveRequests: createRecords(leaveRequest, database),
    imports: { imports, upload: createUpload({ imports, database, jobs, senders }) },
    messagingAccounts: { email: accountsOf('email'), sms: accountsOf('sms') },
    accountTests: createAccountTests(context),
    pages,
    orphans: createOrphans({ database, access, projects: projects.records }),
    projects,
    projectMembers: createRecords(projectMember, database),
    previews: createPreviews({ database, files, access }),
    reading: createReading({ sites, files, publicUrl: config.publicUrl }),
    sitemaps,
    feedTexts,
    tags: createTags(database, contactTags),
    contentTags: createTags(database, contentTags),
    tasks: createTasks(database, logger),
    timeEntries: createRecords(timeEntry, database),
    timelines: createTimelines(database),
    webhooks: openWebhooks(context),
    exports: new Exports({
      perCaller: EXPORTS_PER_CALLER,
      // Leaves half of the connections to other requests.
      concurrentReads: Math.max(1, Math.floor(config.database.poolSize / 2)),
    }),
  };
};
