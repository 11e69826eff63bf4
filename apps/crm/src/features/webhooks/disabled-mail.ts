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
import { createTenantTurns } from './tenant-turns.ts';

/** Sends the mail about an endpoint that was disabled automatically. */
export const disabledMailJob = defineJob(
  'webhook_disabled_mail',
  shape({ tenant_id: uuid(), endpoint_id: uuid() }),
  { concurrency: 4, backoffSeconds: 60, timeLimitSeconds: 60 },
);

/** How many of these mails of one tenant a replica sends at the same time: its mail server may not answer. */
const TURNS_PER_TENANT = 2;
/** How long a mail without a turn waits. */
const NO_TURN_MS = 5000;

/** Enqueues the mail in the transaction that disables the endpoint; it is sent at `at` if that is given. */
type Announce = (db: TenantDb, endpointId: string, at?: Date) => Promise<void>;

/** Creates what enqueues the mails. */
export const createAnnouncement =
  (jobs: Pick<JobQueue, 'enqueue'>): Announce =>
  async (db, endpointId, at) => {
    const payload = { tenant_id: db.tenantId, endpoint_id: endpointId };
    await jobs.enqueue(db, disabledMailJob, payload, at ? { runAt: at } : {});
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
  announce,
  logger,
}: {
  readonly database: Pick<Database, 'forTenant'>;
  readonly sendMail: SendTenantMail;
  readonly announce: Announce;
  readonly logger: Logger;
}): JobHandler => {
  const turns = createTenantTurns(TURNS_PER_TENANT);
  const send = async (tenantId: string, endpointId: string): Promise<void> => {
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
    const isSent = await sendMail(tenantId, mail).catch((error: unknown) => {
      if (isRefused(error)) return false;
      throw error;
    });
    if (isSent) return;
    logger.warn({ tenantId, endpointId }, 'a webhook endpoint was disabled, and no mail was sent');
  };
  return handleJob(
    disabledMailJob,
    async ({ tenant_id: tenantId, endpoint_id: endpointId }): Promise<void> => {
      if (await turns.run(tenantId, () => send(tenantId, endpointId))) return;
      const at = new Date(Date.now() + NO_TURN_MS);
      await database.forTenant(tenantId).transaction((tx) => announce(tx, endpointId, at));
    },
  );
};
