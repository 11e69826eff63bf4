import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '@tessera/http-kit';
import type { Deliver } from './delivery.ts';
import type { ClaimedMail, MailOutbox } from './outbox.ts';

export interface SenderOptions {
  readonly outbox: MailOutbox;
  readonly deliver: Deliver;
  readonly logger: Logger;
  /** Polling interval in milliseconds. */
  readonly pollMs?: number;
}

export interface Sender {
  /** Stops after the current mail, or aborts it if it takes too long. */
  stop(): Promise<void>;
}

/** The last attempt is about eight hours after the first. */
const MAX_ATTEMPTS = 10;
/** Less than the minute for which a mail is claimed. */
const TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 3000;

/** The error without the server's message, which may contain the recipient's address. */
const reasonOf = (error: unknown): object => {
  const { name, code, command, responseCode } = error as Record<string, unknown>;
  return { error: name, code, command, responseCode };
};

/**
 * Sends queued mails one after the other; replicas take different mails. A mail is removed after it was
 * accepted, so it may arrive twice with the same Message-ID, but is never lost.
 */
export const startSender = (options: SenderOptions): Sender => {
  const { outbox, deliver, logger, pollMs = 500 } = options;
  const stopping = new AbortController();
  const abandoning = new AbortController();

  const send = async (mail: ClaimedMail): Promise<void> => {
    const { id, attempts } = mail;
    try {
      await deliver(
        outbox.open(mail),
        AbortSignal.any([abandoning.signal, AbortSignal.timeout(TIMEOUT_MS)]),
      );
    } catch (error) {
      const context = { mail: id, attempts, ...reasonOf(error) };
      if (attempts < MAX_ATTEMPTS)
        return void logger.warn(context, 'a mail was not accepted; it will be retried');
      logger.error(context, 'a mail was not accepted and will not be retried');
    }
    await outbox.remove(mail);
  };

  const work = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      let wait = pollMs;
      try {
        const mail = await outbox.claim();
        if (mail) {
          await send(mail);
          continue;
        }
      } catch (err) {
        logger.warn({ err }, 'the mail queue could not be read');
        wait = Math.max(wait, 2000);
      }
      await pause(wait, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };

  const ended = work();
  return {
    async stop() {
      stopping.abort();
      const abandon = setTimeout(() => abandoning.abort(), STOP_TIMEOUT_MS);
      await ended;
      clearTimeout(abandon);
    },
  };
};
