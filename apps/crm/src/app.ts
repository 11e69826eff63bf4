import { crmAsyncapiDocument } from '@tessera/contracts';
import {
  isBusy,
  isDatabaseUnavailable,
  isStatementTimeout,
  migrationsApplied,
} from '@tessera/database-kit';
import {
  type Application,
  createApplication,
  createLimits,
  healthRoutes,
  type Limits,
  type RouteGroups,
  rootRoute,
  ServiceInformation,
  sendServicePage,
  standardProblems,
  type UploadLimit,
  under,
  withCredentials,
} from '@tessera/http-kit';
import { BOT, BotCaller, botLimitKey, botScheme } from './bots/bot-access.ts';
import type { Context } from './context.ts';
import { migrations } from './database.ts';
import { crmErrorExample } from './error-examples.ts';
import { activityRoutes } from './features/activity/activity.routes.ts';
import { blogPostRoutes } from './features/blog-posts/blog-posts.routes.ts';
import { authenticateBot } from './features/chat/bot-tokens.ts';
import { chatRoutes } from './features/chat/chat.routes.ts';
import { messageSearchRoutes } from './features/chat/streams/message-search.ts';
import { streamRoutes } from './features/chat/streams/streams.routes.ts';
import { botWebhookRoutes } from './features/chat/webhooks/bot-webhooks.routes.ts';
import { communicationLogRoutes } from './features/communication-logs/communication-logs.routes.ts';
import { companyRoutes } from './features/companies/companies.routes.ts';
import { duplicateRoutes } from './features/companies/duplicates.routes.ts';
import { contactRoutes } from './features/contacts/contacts.routes.ts';
import { mergeRoutes } from './features/contacts/merges.routes.ts';
import { previewRoutes, publicPreviewRoutes } from './features/content-previews/previews.routes.ts';
import { customFieldRoutes } from './features/custom-fields/custom-fields.routes.ts';
import { folderRoutes } from './features/document-folders/folders.routes.ts';
import { linkRoutes, publicLinkRoutes } from './features/document-links/links.routes.ts';
import { documentRoutes } from './features/documents/documents.routes.ts';
import { uploadRoutes } from './features/documents/uploads/uploads.routes.ts';
import { importRoutes } from './features/imports/imports.routes.ts';
import { kbArticleRoutes } from './features/kb-articles/kb-articles.routes.ts';
import { commentRoutes } from './features/kb-comments/comments.routes.ts';
import { feedbackRoutes } from './features/kb-feedback/feedback.routes.ts';
import { leaveRequestRoutes } from './features/leave-requests/leave-requests.routes.ts';
import { accountTestRoutes } from './features/messaging-accounts/account-tests.routes.ts';
import { accountRoutes } from './features/messaging-accounts/accounts.routes.ts';
import { orphanRoutes } from './features/orphans/orphans.routes.ts';
import { projectRoutes } from './features/projects/projects.routes.ts';
import { readingRoutes } from './features/public-reading/reading.routes.ts';
import { siteRoutes } from './features/public-reading/site.routes.ts';
import { xmlRoutes } from './features/public-reading/xml.routes.ts';
import { settingsRoutes } from './features/settings/settings.routes.ts';
import { pageRoutes } from './features/site-pages/pages.routes.ts';
import { storageUsageRoutes } from './features/storage-usage/storage-usage.routes.ts';
import { contactTagRoutes, contentTagRoutes } from './features/tags/tags.routes.ts';
import { taskRoutes } from './features/tasks/tasks.routes.ts';
import { timeEntryRoutes } from './features/time-entries/time-entries.routes.ts';
import { timelineRoutes } from './features/timelines/timelines.routes.ts';
import { type TrashRoutes, trashRoutes } from './features/trash/trash.routes.ts';
import { webhookRoutes } from './features/webhooks/webhooks.routes.ts';
import { type Caller, Problem, record, renderError } from './http.ts';
import { createIdempotency } from './idempotency/idempotency.ts';
import { hashSecret } from './records/record-tokens.ts';
import { createServices, type Services } from './services.ts';
import { SYSTEM, SystemCaller, systemScheme } from './system/system-access.ts';
import { version } from './version.ts';

const BODY_LIMIT = 1024 * 1024;

const problems = {
  ...standardProblems,
  401: 'The token is missing, or identity rejects it',
  403: 'The caller lacks a permission, which is named, or may not act in the tenant',
  404: 'The tenant has no such resource',
  503: 'Identity or the database is unavailable. The token may still be valid, so do not sign out',
};

const MINUTE = 60;
const health = '/api/crm/health';

const limitsOf = ({ config: { limits }, counters }: Context) =>
  createLimits<Caller | SystemCaller | BotCaller>({
    classes: {
      default: { window: MINUTE, address: limits.address, principal: limits.principal },
      service: { window: MINUTE, address: limits.service, principal: 0 },
      link: {
        window: MINUTE,
        address: limits.link,
        principal: 0,
        // A hash, because counters may be shared; of the whole token, so that nobody without it can use up its limit.
        keyed: { limit: limits.linkTotal, key: (req) => hashSecret(`${req.params.token}`) },
      },
      bot: {
        window: MINUTE,
        address: limits.address,
        principal: limits.principal,
        keyed: { limit: limits.bot, key: botLimitKey },
      },
      public: {
        window: MINUTE,
        address: limits.public,
        principal: 0,
        keyed: { limit: limits.publicTenant, key: (req) => `${req.params.tenant}` },
      },
      publicXml: {
        window: MINUTE,
        address: limits.publicXml,
        principal: 0,
        keyed: { limit: limits.publicTenant, key: (req) => `${req.params.tenant}` },
      },
    },
    store: counters.store,
    // Every API key is counted separately; all tokens of a user are counted together.
    principalKey: (caller) => {
      if (caller instanceof SystemCaller) return 'system';
      if (caller instanceof BotCaller) return `bot:${caller.botId}`;
      const { type, id, token_id } = caller.principal;
      return type === 'service_account' ? `key:${token_id ?? id}` : `${type}:${id}`;
    },
  });

/** The uploads that this instance receives at the same time. */
const uploadLimitsOf = (
  { config: { files } }: Context,
  { key }: Limits,
): readonly UploadLimit[] => [
  { name: 'UPLOADS_PER_CALLER', limit: files.uploads.perCaller, key },
  {
    name: 'UPLOADS_PER_TENANT',
    limit: files.uploads.perTenant,
    key: (_req, res) => res.locals.caller.tenantId,
  },
  { name: 'UPLOADS_PER_INSTANCE', limit: files.uploads.perInstance, key: () => '' },
];

/** Whether a tenant can be served: the migrations are applied, and not all workers of a cluster are unreachable. */
const readiness = (pool: Context['pool'], cluster: Context['cluster']) => {
  // A share of its own: a replica that is busy is ready.
  const isMigrated = migrationsApplied(pool.share('readiness'), migrations);
  return async (): Promise<boolean> => !cluster?.isDown && isMigrated();
};

/** The routes by tag, in the order of the document. */
const routesOf = (
  { access, cluster, config, pool, database, chatStreams, jobs }: Context,
  {
    activity,
    blogPosts,
    chat,
    contacts,
    imports,
    contactMerges,
    companies,
    communicationLogs,
    customFields,
    documents,
    documentLinks,
    kbArticles,
    kbComments,
    kbFeedback,
    leaveRequests,
    messagingAccounts,
    orphans,
    pages,
    accountTests,
    previews,
    projects,
    projectMembers,
    reading,
    sitemaps,
    feedTexts,
    tags,
    contentTags,
    tasks,
    uploads,
    timeEntries,
    timelines,
    webhooks,
    exports,
  }: Services,
  trash: TrashRoutes,
): RouteGroups => ({
  Health: {
    getService: rootRoute({
      service: 'crm',
      version,
      health,
      envelope: record(ServiceInformation),
      wrap: (data) => ({ data }),
      sendPage(_req, res) {
        const lead = 'This service keeps the contacts, companies, and other records of tenants.';
        sendServicePage(res, { title: 'Tessera CRM', lead, health });
      },
    }),
    ...healthRoutes({
      path: health,
      service: 'crm',
      version,
      ready: readiness(pool, cluster),
      unreachableServers: () => cluster?.unreachable ?? 0,
    }),
  },
  Contacts: under('/api/crm', {
    ...trash.contacts,
    ...contactRoutes(contacts, exports, database),
    ...mergeRoutes(contactMerges, database),
    ...timelineRoutes(timelines).contacts,
  }),
  Companies: under('/api/crm', {
    // Before the routes of one company, whose paths would match as well.
    ...duplicateRoutes(database),
    ...trash.companies,
    ...companyRoutes(companies, exports, database),
    ...timelineRoutes(timelines).companies,
  }),
  'Communication logs': under('/api/crm', {
    ...trash.communicationLogs,
    ...communicationLogRoutes(communicationLogs, exports),
  }),
  Chat: under('/api/crm', {
    ...trash.chat,
    ...chatRoutes(chat, exports, config.files.maxBytes),
    ...streamRoutes({ database, streams: chatStreams }),
    ...messageSearchRoutes(database),
  }),
  'Bot webhooks': under(
    '/api/crm',
    botWebhookRoutes(database, chat.messages, config.files.maxBytes),
  ),
  Projects: under('/api/crm', {
    ...trash.projects,
    ...projectRoutes(projects, projectMembers, exports),
  }),
  'Time entries': under('/api/crm', {
    ...trash.timeEntries,
    ...timeEntryRoutes(timeEntries, database, exports),
  }),
  'Custom fields': under('/api/crm', customFieldRoutes(customFields, exports)),
  'Leave requests': under('/api/crm', {
    ...trash.leaveRequests,
    ...leaveRequestRoutes(leaveRequests, database, exports),
  }),
  Tasks: under('/api/crm', {
    ...trash.tasks,
    ...taskRoutes(tasks, exports, database),
  }),
  Documents: {
    ...under('/api/crm', {
      ...documentRoutes({ service: documents, exports, maxBytes: config.files.maxBytes }),
      ...uploadRoutes({ uploads, maxBytes: config.files.maxBytes }),
      ...linkRoutes(documentLinks),
    }),
    ...publicLinkRoutes(documentLinks),
  },
  'Document folders': under('/api/crm', folderRoutes(documents, exports)),
  'Knowledge base': under('/api/crm', {
    ...trash.kbArticles,
    ...kbArticleRoutes(kbArticles, { database, exports, publishing: { jobs, access } }),
    ...commentRoutes(kbComments),
    ...feedbackRoutes(kbFeedback),
    ...previewRoutes(previews).articles,
  }),
  'Blog posts': under('/api/crm', {
    ...trash.blogPosts,
    ...blogPostRoutes(blogPosts, { database, exports, publishing: { jobs, access } }),
    ...previewRoutes(previews).posts,
  }),
  Pages: under('/api/crm', {
    ...trash.pages,
    ...pageRoutes(pages, { database, exports, publishing: { jobs, access } }),
    ...previewRoutes(previews).pages,
  }),
  Imports: under('/api/crm', {
    ...trash.imports,
    ...importRoutes({ ...imports, database, exports }),
  }),
  Orphans: under('/api/crm', orphanRoutes(orphans)),
  Activity: under('/api/crm', activityRoutes(activity, exports)),
  Settings: under('/api/crm', settingsRoutes(database, access)),
  'Public reading': {
    ...siteRoutes(reading.sites, config.publicUrl),
    ...readingRoutes(reading),
    ...xmlRoutes(reading, sitemaps, feedTexts),
    ...publicPreviewRoutes(previews),
  },
  Tags: under('/api/crm', {
    ...contactTagRoutes(tags, exports),
    ...contentTagRoutes(contentTags, exports),
  }),
  Webhooks: under('/api/crm', { ...trash.webhooks, ...webhookRoutes(webhooks, exports) }),
  System: under('/api/crm', {
    ...accountRoutes(messagingAccounts),
    ...accountTestRoutes(accountTests),
    ...storageUsageRoutes(database),
  }),
});

/** The application and its OpenAPI document. Tests pass routes of their own kinds in `furtherGroups`. */
export const createApp = (context: Context, furtherGroups: RouteGroups = {}): Application => {
  const { config, logger, metrics, observers } = context;
  const limits = limitsOf(context);
  const services = createServices(context);
  return createApplication<Caller | SystemCaller | BotCaller>({
    groups: {
      ...routesOf(context, services, trashRoutes(context.database, services.webhooks.kind)),
      ...furtherGroups,
    },
    about: {
      title: 'Tessera CRM',
      version,
      description: 'The records of tenants. Every route states the permissions that it requires.',
      error: Problem,
      problems,
      errorExample: crmErrorExample,
      requestHeaders({ permission, credential }) {
        if (permission === 'public' || credential === BOT) return [];
        return credential === SYSTEM ? ['X-Tenant-Id'] : ['X-Tenant'];
      },
    },
    documents: { '/docs/events.json': crmAsyncapiDocument },
    gate: withCredentials<Caller, SystemCaller | BotCaller>(context.access.gate, [
      systemScheme(config.systemTokens),
      botScheme({
        authenticate: (token) => authenticateBot(context.database, token),
        // Without a client at identity, CRM cannot know.
        isActive: async (tenantId) =>
          !context.access.canAskRights ||
          (await context.activeTenants.slugOf(tenantId)) !== undefined,
      }),
    ]),
    limits,
    uploadLimits: uploadLimitsOf(context, limits),
    idempotency: createIdempotency(context.database, context.vault),
    bodyLimit: BODY_LIMIT,
    // One tenant's members and keys share its memory for bodies.
    bodyKey: (req, res) => res.locals.caller?.tenantId ?? limits.key(req, res),
    streamsPerPrincipal: config.streamsPerCaller,
    cors: { origins: config.corsOrigins, credentials: false },
    trustedProxies: config.trustedProxies,
    render: renderError,
    isBusy,
    isDatabaseUnavailable,
    isStatementTimeout,
    logger,
    logsHealthChecks: config.logsHealthChecks,
    metrics,
    observers,
  });
};
