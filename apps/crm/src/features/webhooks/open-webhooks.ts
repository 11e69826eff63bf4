import type { PeriodicWork } from '@tessera/background-work';
import type { JobQueue } from '@tessera/background-work/jobs';
import type { Logger } from '@tessera/http-kit';
import type { ResourceServer } from '@tessera/resource-server';
import { readSometimes } from '@tessera/telemetry/metrics';
import type { Vault } from '@tessera/vault';
import type { Registry } from 'prom-client';
import type { ActiveTenants } from '../../absent-callers/active-tenants.ts';
import type { Config } from '../../config.ts';
import type { Database } from '../../database.ts';
import { startOutboxReader } from '../../events/outbox-reader.ts';
import type { Outbound } from '../../messaging/outbound.ts';
import { bulkHandlers, createBulkChanges } from './bulk-jobs.ts';
import { deliveryHandler } from './delivery-run.ts';
import { createAnnouncement, disabledMailHandler } from './disabled-mail.ts';
import { createDisabling } from './disabling.ts';
import { createEndpointSecrets } from './endpoint-secrets.ts';
import { takeEvents } from './intake.ts';
import { createWebhookMetrics } from './metrics.ts';
import { createRecordReader } from './payload.ts';
import { shownKinds } from './shown-kinds.ts';
import { createTenantMail } from './tenant-mail.ts';
import { oldestDelivery, startWebhookUpkeep } from './upkeep.ts';
import { createUrlCheck } from './url-check.ts';
import { createWake } from './wake.ts';
import { createWebhooks, type Webhooks } from './webhooks.service.ts';

/** What webhooks use. */
export interface WebhookContext {
  readonly config: Pick<Config, 'database' | 'outbound'>;
  readonly database: Database;
  readonly jobs: JobQueue;
  readonly vault: Vault | undefined;
  readonly outbound: Pick<Outbound, 'http' | 'smtp'>;
  readonly logger: Logger;
  /** Without a client at identity, nobody says which tenants are suspended. */
  readonly access: Pick<ResourceServer, 'canAskRights'>;
  readonly activeTenants: Pick<ActiveTenants, 'slugOf'>;
  readonly metrics: { readonly registry: Registry };
}

/**
 * How many events are turned into deliveries in one transaction, for each of up to 100 endpoints. The event of another tenant is in the
 * next one.
 */
const INTAKE = 100;

/** Creates the service of webhooks, and registers the jobs that send. */
export const openWebhooks = (context: WebhookContext): Webhooks => {
  const { config, database, jobs, vault, outbound, logger, metrics, access, activeTenants } =
    context;
  const { background } = database;
  const secrets = createEndpointSecrets(vault);
  const wake = createWake(jobs);
  const bulk = createBulkChanges(jobs);
  const disable = createDisabling(bulk, createAnnouncement(jobs));
  const oldest = readSometimes(
    () => oldestDelivery(background),
    (err) => logger.warn({ err }, 'the age of webhook deliveries could not be read'),
  );
  const measured = createWebhookMetrics(metrics.registry, oldest);
  for (const handler of bulkHandlers({ database: background, jobs, wake })) jobs.register(handler);
  jobs.register(
    deliveryHandler({
      database: database.deliveries,
      http: outbound.http,
      secrets,
      wake,
      disable,
      logger,
      isActive: async (tenantId) =>
        !access.canAskRights || (await activeTenants.slugOf(tenantId)) !== undefined,
      metrics: measured,
    }),
  );
  const sendMail = createTenantMail({ database: background, vault, smtp: outbound.smtp });
  jobs.register(disabledMailHandler({ database: background, sendMail, metrics: measured, logger }));
  const problemOf = createUrlCheck(outbound.http, config.outbound.allowedNetworks);
  return createWebhooks({ database, secrets, wake, bulk, problemOf });
};

/** Starts to turn events into deliveries, and to delete deliveries that have expired. */
export const startWebhookWork = ({
  config,
  database,
  jobs,
  logger,
}: Pick<WebhookContext, 'config' | 'database' | 'jobs' | 'logger'>): PeriodicWork => {
  const wake = createWake(jobs);
  const recordReader = createRecordReader(shownKinds);
  const disable = createDisabling(createBulkChanges(jobs), createAnnouncement(jobs));
  const reader = startOutboxReader({
    database: config.database,
    logger,
    sink: 'webhooks',
    batch: INTAKE,
    handle: (events, tx) => takeEvents(events, tx, { recordReader, wake, disable }),
  });
  const upkeep = startWebhookUpkeep(database.background, wake, logger);
  return {
    async stop() {
      await reader.stop();
      await upkeep.stop();
    },
  };
};
