import type { Logger } from '@tessera/http-kit';
import type { Registry } from 'prom-client';
import type { Config } from '../config.ts';
import { type Deliver, folderDelivery, smtpDelivery } from './delivery.ts';
import { type CountDropped, registerMailBacklog } from './metrics.ts';
import type { MailOutbox } from './outbox.ts';
import { type Sender, startSender } from './sender.ts';

type MailConfig = Config['mail'];

const deliveryOf = ({ smtp, directory }: MailConfig): Deliver | null => {
  if (smtp) return smtpDelivery(smtp);
  return directory === undefined ? null : folderDelivery(directory);
};

export interface MailParts {
  readonly outbox: MailOutbox;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly countDropped: CountDropped;
}

/** Whether mails are sent at all. */
export const sendsMail = ({ smtp, directory }: MailConfig): boolean =>
  smtp !== undefined || directory !== undefined;

/**
 * Starts sending queued mails; null if no delivery is configured, in which case mails stay queued.
 */
export const startMail = (
  config: MailConfig,
  { outbox, logger, registry, countDropped }: MailParts,
): Sender | null => {
  const deliver = deliveryOf(config);
  if (!deliver) {
    logger.warn('mails stay queued because SMTP_URL is not set');
    return null;
  }
  if (!config.smtp) logger.info({ directory: config.directory }, 'mails are written to a folder');
  registerMailBacklog(registry, outbox, logger);
  return startSender({ outbox, deliver, logger, countDropped });
};
