import { type Attempts, HttpError } from '@tessera/http-kit';
import type { MailKind } from './mails.ts';

/** Limits the mails of a kind per recipient and hour, however often they are requested. */
export class MailQuota {
  readonly #attempts: Attempts;

  constructor(attempts: Attempts) {
    this.#attempts = attempts;
  }

  /** Counts a mail; false if the limit is exceeded. */
  async allows(kind: MailKind, reader: string): Promise<boolean> {
    try {
      await this.#attempts.take(`${kind}:${reader}`);
      return true;
    } catch (error) {
      if (error instanceof HttpError && error.status === 429) return false;
      throw error;
    }
  }
}
