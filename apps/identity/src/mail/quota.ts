import { type Attempts, HttpError } from '@tessera/http-kit';
import type { MailKind } from './mails.ts';

/** How many mails of a kind one reader gets in an hour, however often strangers ask for them. */
export class MailQuota {
  readonly #attempts: Attempts;

  constructor(attempts: Attempts) {
    this.#attempts = attempts;
  }

  /** Counts a mail that is about to be written; false: this one is too many. */
  async admits(kind: MailKind, reader: string): Promise<boolean> {
    try {
      await this.#attempts.take(`${kind}:${reader}`);
      return true;
    } catch (error) {
      if (error instanceof HttpError && error.status === 429) return false;
      throw error;
    }
  }
}
