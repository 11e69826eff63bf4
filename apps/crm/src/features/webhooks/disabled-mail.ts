import {
  defineJob,
  handleJob,
  type JobHandler,
  type JobQueue,
} from '@tessera/background-work/jobs';
import { shape, uuid } from '@tessera/fields';
import type { Logger } from '@tessera/http-kit';
import type { Database, TenantDb } from '../../database.ts';
import { DeliveryFailed } from '../../messaging/delivery-failed.ts';
import { type DisabledReason, findDisabled } from './endpoints.repository.ts';
import type { WebhookMetrics } from './metrics.ts';

/**
 * Sends the mail about an endpoint that was disabled automatically. A tenant whose mail server does not answer has two of the
 * four workers.
 */
export const disabledMailJob = defineJob(
  'webhook_disabled_mail',
  shape({ tenant_id: uuid(), endpoint_id: uuid() }),
  { concurrency: 4, backoffSeconds: 60, timeLimitSeconds: 60 },
);

/** Enqueues the mail in the transaction that disables the endpoint. */
export type Announce = (db: TenantDb, endpointId: string) => Promise<void>;

/** Creates what enqueues the mails. */
export const createAnnouncement =
  (jobs: Pick<JobQueue, 'enqueue'>): Announce =>
  async (db, endpointId) => {
    await jobs.enqueue(db, disabledMailJob, { tenant_id: db.tenantId, endpoint_id: endpointId });
  };

/** A mail to one address. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/**
 * Sends a mail through an email account of the tenant; returns whether it has one. Rejects if the account cannot send.
 */
export type SendTenantMail = (tenantId: string, mail: Mail) => Promise<boolean>;

const reasons: Readonly<Record<DisabledReason, string>> = {
  failing: 'All requests to it have failed for days.',
  gone: 'It responded with the status 410 (Gone).',
  backlog: 'Too many deliveries to it were waiting, because it was slower than the events.',
};

/** The URL without its query, which may contain credentials. */
const shownUrl = (url: string): string => {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
};

/**
 * Whether the mail is never accepted. Credentials, the sender and whether the server relays (5.7.x) can be corrected until the
 * last attempt.
 */
const isRefused = (error: unknown): boolean =>
  error instanceof DeliveryFailed &&
  !error.isTemporary &&
  (error.step === 'recipient' || error.step === 'message') &&
  !error.reply.detail?.startsWith('5.7.');

/** The handler of the job. Without an email account, the endpoint's state is all that tells of it. */
export const disabledMailHandler = ({
  database,
  sendMail,
  metrics,
  logger,
}: {
  readonly database: Pick<Database, 'forTenant'>;
  readonly sendMail: SendTenantMail;
  readonly metrics: Pick<WebhookMetrics, 'disabled'>;
  readonly logger: Logger;
}): JobHandler => {
  const send = async (tenantId: string, endpointId: string, attempt: number): Promise<void> => {
    const found = await findDisabled(database.forTenant(tenantId), endpointId);
    if (!found) return;
    const { url, contact_email: to, reason } = found;
    if (attempt === 1) metrics.disabled(reason);
    if (to === null) return;
    const text = [
      `Tessera has disabled the webhook endpoint ${shownUrl(url)}.`,
      reasons[reason],
      'It gets no events until you enable it again. Deliveries that failed can be replayed for 30 days.',
      '',
    ].join('\n\n');
    const mail = { to, subject: 'A webhook endpoint was disabled', text };
    const isSent = await sendMail(tenantId, mail).catch((error: unknown) => {
      if (isRefused(error)) return false;
      throw error;
    });
    if (isSent) return;
    logger.warn({ tenantId, endpointId }, 'a webhook endpoint was disabled, and no mail was sent');
  };
  return handleJob(disabledMailJob, (payload, { attempt }) =>
    send(payload.tenant_id, payload.endpoint_id, attempt),
  );
};
