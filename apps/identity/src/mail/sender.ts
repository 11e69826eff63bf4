import { createBell } from '@tessera/background-work';
import type { Logger } from '@tessera/http-kit';
import type { Deliver } from './delivery.ts';
import { DeliveryFailed, type Verdict } from './failures.ts';
import type { CountDropped } from './metrics.ts';
import type { ClaimedMail, MailOutbox } from './outbox.ts';
import { SendingPlaces, SHARE } from './places.ts';

export interface SenderOptions {
  readonly outbox: MailOutbox;
  readonly deliver: Deliver;
  readonly logger: Logger;
  readonly countDropped: CountDropped;
  /** Polling interval in milliseconds. */
  readonly pollMs?: number;
}

export interface Sender {
  /** Stops after the current mails, or aborts them if they take too long. */
  stop(): Promise<void>;
}

/** Less than the minute for which a mail is claimed. */
const TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 3000;

/** The error without the server's message, which may contain the recipient's address. */
const reasonOf = (error: unknown): object => {
  const cause = error instanceof DeliveryFailed ? error.cause : error;
  const { name, code, command, responseCode } = cause as Record<string, unknown>;
  return { error: name, code, command, responseCode };
};

/**
 * Sends queued mails, several at a time and in turns by the domain of their recipients, so that a domain whose servers do
 * not answer does not delay others. Replicas take different mails. A mail is removed after it was accepted, so it may
 * arrive twice with the same Message-ID, but is never lost.
 */
export const startSender = (options: SenderOptions): Sender => {
  const { outbox, deliver, logger, countDropped, pollMs = 500 } = options;
  let isStopping = false;
  const abandoning = new AbortController();
  const places = new SendingPlaces();
  const running = new Set<Promise<void>>();
  /** Rings when a place becomes free. */
  const bell = createBell();

  const failed: Readonly<Record<Verdict, (mail: ClaimedMail, context: object) => Promise<void>>> = {
    async refused(mail, context) {
      places.answered(mail.domain);
      await outbox.remove(mail);
      countDropped('refused', 1);
      logger.warn(context, 'a mail was refused and will not be retried');
    },
    async later(mail, context) {
      places.answered(mail.domain);
      await outbox.postpone(mail);
      logger.warn(context, 'a mail was not accepted; it will be retried');
    },
    async unanswered(mail, context) {
      const delay = places.unanswered(mail.domain);
      await outbox.postpone(mail);
      if (delay !== undefined) await outbox.postponeDomain(mail.domain, delay);
      logger.warn({ ...context, delay }, 'a mail got no answer; its domain will be retried');
    },
    async unavailable(mail, context) {
      if (places.unavailable()) logger.warn(context, 'the mail server is unavailable; mails wait');
      await outbox.release(mail);
    },
  };

  const send = async (mail: ClaimedMail): Promise<void> => {
    try {
      const timeout = AbortSignal.timeout(TIMEOUT_MS);
      await deliver(outbox.open(mail), AbortSignal.any([abandoning.signal, timeout]));
    } catch (error) {
      // The server may have accepted it: the next attempt is when the claim ends.
      if (abandoning.signal.aborted) return;
      const verdict = error instanceof DeliveryFailed ? error.verdict : 'later';
      const { id, attempts } = mail;
      return failed[verdict](mail, { mail: id, attempts, ...reasonOf(error) });
    }
    places.answered(mail.domain);
    await outbox.remove(mail);
  };

  const start = (mail: ClaimedMail): void => {
    places.enter(mail.domain);
    const sending = send(mail)
      .catch((err) => logger.warn({ err, mail: mail.id }, 'a mail could not be updated'))
      .finally(() => {
        places.leave(mail.domain);
        running.delete(sending);
        bell.ring();
      });
    running.add(sending);
  };

  /** Starts due mails in half of the free places; returns how many places may be filled next. */
  const claim = async (): Promise<number> => {
    const { free } = places;
    if (free === 0) return 0;
    const mails = await outbox.claim(free, SHARE, places.taken);
    mails.forEach(start);
    // Fewer than could be claimed: nothing else is due, or only mails to domains that have their share.
    return mails.length < Math.ceil(free / 2) ? 0 : places.free;
  };

  const work = async (): Promise<void> => {
    while (!isStopping) {
      let wait = pollMs;
      try {
        if ((await claim()) > 0) wait = 0;
      } catch (err) {
        logger.warn({ err }, 'the mail queue could not be read');
        wait = Math.max(wait, 2000);
      }
      if (!isStopping && wait > 0) await bell.wait(wait);
    }
  };

  const ended = work();
  return {
    async stop() {
      isStopping = true;
      bell.ring();
      const abandon = setTimeout(() => abandoning.abort(), STOP_TIMEOUT_MS);
      await ended;
      await Promise.all(running);
      clearTimeout(abandon);
    },
  };
};
