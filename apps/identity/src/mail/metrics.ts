import type { Logger } from '@tessera/http-kit';
import { readSometimes, registerReadGauge } from '@tessera/telemetry/metrics';
import { Counter, type Registry } from 'prom-client';
import type { MailBacklog, MailOutbox } from './outbox.ts';

/** Why a mail is dropped: it was refused for good, or its time was over before it was accepted. */
export type DropReason = 'refused' | 'expired';

/** Counts mails that are dropped. */
export type CountDropped = (reason: DropReason, mails: number) => void;

/** Registers the count of dropped mails. */
export const countDroppedMails = (registry: Registry): CountDropped => {
  const dropped = new Counter({
    name: 'mails_dropped_total',
    help: 'Mails that were not sent, because they were refused for good or had expired.',
    labelNames: ['reason'],
    registers: [registry],
  });
  for (const reason of ['refused', 'expired']) dropped.inc({ reason }, 0);
  return (reason, mails) => dropped.inc({ reason }, mails);
};

/** Registers the metrics of mails that wait. They are absent while the outbox cannot be read. */
export const registerMailBacklog = (
  registry: Registry,
  outbox: Pick<MailOutbox, 'backlog'>,
  logger: Logger,
): void => {
  const read = readSometimes(
    () => outbox.backlog(),
    (err) => logger.warn({ err }, 'the waiting mails could not be counted'),
  );
  const register = (name: string, help: string, measure: (backlog: MailBacklog) => number) =>
    registerReadGauge(registry, { name, help }, read, (gauge, backlog) =>
      gauge.set(measure(backlog)),
    );
  register('mails_waiting', 'Mails that wait to be sent.', ({ waiting }) => waiting);
  register(
    'mails_oldest_seconds',
    'Age of the oldest mail that waits to be sent; 0 if none waits.',
    ({ oldest }) => oldest,
  );
  register(
    'mails_overdue_seconds',
    'How long the next attempt to send a mail has been due; 0 if none is.',
    ({ overdue }) => overdue,
  );
};
