import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '@tessera/http-kit';
import type { Deliver } from './delivery.ts';
import type { ClaimedMail, MailOutbox } from './outbox.ts';

export interface SenderOptions {
  readonly outbox: MailOutbox;
  readonly deliver: Deliver;
  readonly logger: Logger;
  /** How often to look for mails that are due. */
  readonly pollMs?: number;
}

export interface Sender {
  /** Ends after the mail that is under way, or without it when that takes longer than a stop may. */
  stop(): Promise<void>;
}

/** The last one is some eight hours after the first. */
const MOST_ATTEMPTS = 10;
/** Less than the minute for which a mail is one's own. */
const LIMIT_MS = 30_000;
const STOP_LIMIT_MS = 3000;

/** What went wrong, without what a server says: that may repeat the address. */
const reasonOf = (error: unknown): object => {
  const { name, code, command, responseCode } = error as Record<string, unknown>;
  return { error: name, code, command, responseCode };
};

/**
 * Sends the mails of the outbox, one after the other; of several replicas each takes others. A mail is
 * removed once it was taken, so it may arrive twice, with the same Message-ID, and is never lost.
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
        AbortSignal.any([abandoning.signal, AbortSignal.timeout(LIMIT_MS)]),
      );
    } catch (error) {
      const context = { mail: id, attempts, ...reasonOf(error) };
      if (attempts < MOST_ATTEMPTS)
        return void logger.warn(context, 'a mail waits: it was not taken');
      logger.error(context, 'a mail was given up');
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
        logger.warn({ err }, 'the mails wait: no database');
        wait = Math.max(wait, 2000);
      }
      await pause(wait, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };

  const ended = work();
  return {
    async stop() {
      stopping.abort();
      const abandon = setTimeout(() => abandoning.abort(), STOP_LIMIT_MS);
      await ended;
      clearTimeout(abandon);
    },
  };
};
