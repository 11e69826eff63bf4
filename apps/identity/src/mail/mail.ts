import type { Logger } from '@tessera/http-kit';
import type { Config } from '../config.ts';
import { type Deliver, folderDelivery, smtpDelivery } from './delivery.ts';
import type { MailOutbox } from './outbox.ts';
import { type Sender, startSender } from './sender.ts';

type MailConfig = Config['mail'];

const deliveryOf = ({ smtp, directory }: MailConfig): Deliver | null => {
  if (smtp) return smtpDelivery(smtp);
  return directory === undefined ? null : folderDelivery(directory);
};

/** Sends what waits in the outbox, in the way that is configured; null where none is: then they wait. */
export const startMail = (
  config: MailConfig,
  outbox: MailOutbox,
  logger: Logger,
): Sender | null => {
  const deliver = deliveryOf(config);
  if (!deliver) {
    logger.warn('mails wait in the outbox: there is no SMTP_URL');
    return null;
  }
  if (!config.smtp) logger.info({ directory: config.directory }, 'mails are written into a folder');
  return startSender({ outbox, deliver, logger });
};
