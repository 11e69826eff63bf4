import {
  defineJob,
  handleJob,
  type JobHandler,
  type JobQueue,
} from '@tessera/background-work/jobs';
import { shape, uuid } from '@tessera/fields';
import type { Logger } from '@tessera/http-kit';
import type { Database, TenantDb } from '../../database.ts';
import { type DisabledReason, findDisabled } from './endpoints.repository.ts';

/** Sends the mail about an endpoint that was disabled automatically. */
export const disabledMailJob = defineJob(
  'webhook_disabled_mail',
  shape({ tenant_id: uuid(), endpoint_id: uuid() }),
  { concurrency: 1, backoffSeconds: 60, timeLimitSeconds: 60 },
);

/** Enqueues the mail in the transaction that disables the endpoint. */
export const createAnnouncement =
  (jobs: Pick<JobQueue, 'enqueue'>) =>
  async (db: TenantDb, endpointId: string): Promise<void> => {
    const payload = { tenant_id: db.tenantId, endpoint_id: endpointId };
    await jobs.enqueue(db, disabledMailJob, payload);
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
};

/** The URL without its query, which may contain credentials. */
const shownUrl = (url: string): string => {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
};

/** The handler of the job. Without an email account, the endpoint's state is all that tells of it. */
export const disabledMailHandler = ({
  database,
  sendMail,
  logger,
}: {
  readonly database: Pick<Database, 'forTenant'>;
  readonly sendMail: SendTenantMail;
  readonly logger: Logger;
}): JobHandler =>
  handleJob(disabledMailJob, async ({ tenant_id: tenantId, endpoint_id: endpointId }) => {
    const found = await findDisabled(database.forTenant(tenantId), endpointId);
    if (!found) return;
    const { url, contact_email: to, reason } = found;
    const text = [
      `Tessera has disabled the webhook endpoint ${shownUrl(url)}.`,
      reasons[reason],
      'It gets no events until you enable it again. Deliveries that failed can be replayed for 30 days.',
      '',
    ].join('\n\n');
    const mail = { to, subject: 'A webhook endpoint was disabled', text };
    if (await sendMail(tenantId, mail)) return;
    logger.warn({ tenantId, endpointId }, 'a webhook endpoint was disabled, and no mail was sent');
  });
