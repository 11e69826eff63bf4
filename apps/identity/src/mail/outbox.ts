import type { Vault } from '@tessera/vault';
import type { Pool } from 'pg';
import { v7 as uuidv7 } from 'uuid';
import type { Transaction } from '../database.ts';
import { htmlPage, plainText } from './layout.ts';
import { type LinkTargets, mailLinks } from './links.ts';
import type { Mail, Message } from './mails.ts';
import { withInertNames } from './names.ts';
import { type MailText, textsFor } from './texts/texts.ts';

/** A mail claimed by this process until its next attempt is due. */
export interface ClaimedMail {
  readonly id: string;
  readonly sealed: Uint8Array;
  /** Including this attempt. */
  readonly attempts: number;
}

export interface MailSettings extends LinkTargets {
  /** Name of the sender. */
  readonly brandName: string;
}

/** Associated data of the encryption, which binds a message to its row. */
export const mailPurpose = (id: string): string => `mail ${id}`;

/**
 * Claims a due mail. The next attempt is scheduled first, with exponential backoff from one minute, so that
 * nothing is lost if the process is killed.
 */
const CLAIM = `
  UPDATE identity.outbox_mails SET attempts = attempts + 1,
    next_attempt_at = now() + interval '1 minute' * 2 ^ least(attempts, 16)
  WHERE id = (SELECT id FROM identity.outbox_mails WHERE next_attempt_at <= now()
    ORDER BY next_attempt_at LIMIT 1 FOR UPDATE SKIP LOCKED)
  RETURNING id, sealed_message AS sealed, attempts`;

/**
 * Mails that are sent after the transaction commits. They are stored encrypted, because their links are
 * secrets.
 */
export class MailOutbox {
  readonly #pool: Pool;
  readonly #vault: Vault;
  readonly #links: ReturnType<typeof mailLinks>;
  readonly #brand: string;

  constructor(pool: Pool, vault: Vault, settings: MailSettings) {
    this.#pool = pool;
    this.#vault = vault;
    this.#links = mailLinks(settings);
    this.#brand = settings.brandName;
  }

  /** Enqueues a mail within a transaction. */
  async enqueue(tx: Transaction, mail: Mail): Promise<void> {
    const message = this.#compose(uuidv7(), mail);
    const { id } = message;
    const sealed = this.#vault.seal(Buffer.from(JSON.stringify(message)), mailPurpose(id));
    await tx.outboxMail.create({ data: { id, sealedMessage: new Uint8Array(sealed) } });
  }

  /** Claims the next due mail; null if none is due. Nobody else gets it for at least a minute. */
  async claim(): Promise<ClaimedMail | null> {
    const { rows } = await this.#pool.query<ClaimedMail>({ name: 'claim-mail', text: CLAIM });
    return rows[0] ?? null;
  }

  /** Throws if the encryption key is no longer configured. */
  open({ id, sealed }: ClaimedMail): Message {
    return JSON.parse(this.#vault.open(sealed, mailPurpose(id)).toString());
  }

  async remove({ id }: ClaimedMail): Promise<void> {
    await this.#pool.query('DELETE FROM identity.outbox_mails WHERE id = $1', [id]);
  }

  #compose(id: string, mail: Mail): Message {
    const { kind, to, locale } = mail;
    const { language, texts } = textsFor(locale);
    // The types match for each kind, but TypeScript cannot correlate unions through a table.
    const text = (texts.mails[kind] as (data: Mail['data']) => MailText)(withInertNames(mail.data));
    const link = (this.#links[kind] as (mail: Mail) => string | null)(mail);
    const page = { ...texts, brand: this.#brand, language, text, link };
    return { id, kind, to, subject: text.subject, text: plainText(page), html: htmlPage(page) };
  }
}
