import { domainToASCII } from 'node:url';
import type { Vault } from '@tessera/vault';
import type { Pool } from 'pg';
import { v7 as uuidv7 } from 'uuid';
import type { Transaction } from '../database.ts';
import { htmlPage, plainText } from './layout.ts';
import { type LinkTargets, mailLinks } from './links.ts';
import type { Mail, Message } from './mails.ts';
import { withInertNames } from './names.ts';
import * as queries from './queries.ts';
import { type MailText, textsFor } from './texts/texts.ts';

/** A mail claimed by this process. Nobody else gets it for a minute. */
export interface ClaimedMail {
  readonly id: string;
  /** The domain of the recipient. */
  readonly domain: string;
  readonly sealed: Uint8Array;
  /** Including this attempt. */
  readonly attempts: number;
  readonly dueAt: Date;
}

/** What waits to be sent. */
export interface MailBacklog {
  readonly waiting: number;
  /** Seconds since the oldest waiting mail was written. */
  readonly oldest: number;
  /** Seconds since the oldest attempt was due. */
  readonly overdue: number;
}

export interface MailSettings extends LinkTargets {
  /** Name of the sender. */
  readonly brandName: string;
}

/** Associated data of the encryption, which binds a message to its row. */
export const mailPurpose = (id: string): string => `mail ${id}`;

/** How long a mail is worth sending, in milliseconds. */
const MAX_AGE_MS = 7 * 86_400_000;

/**
 * When sending a mail becomes pointless: when its link or what it announces is over. The mail to a replaced address also
 * reports the change, so it is sent even without a working link.
 */
const expiryOf = ({ kind, data }: Mail): Date => {
  const now = Date.now();
  let expiry = Number.POSITIVE_INFINITY;
  if ('dueAt' in data) expiry = data.dueAt.getTime();
  else if ('lifetime' in data && kind !== 'email_replaced') expiry = now + 1000 * data.lifetime;
  return new Date(Math.min(expiry, now + MAX_AGE_MS));
};

const domainOf = (address: string): string =>
  domainToASCII(address.slice(address.lastIndexOf('@') + 1));

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
    const { id, to } = message;
    const sealed = this.#vault.seal(Buffer.from(JSON.stringify(message)), mailPurpose(id));
    await tx.outboxMail.create({
      data: {
        id,
        sealedMessage: new Uint8Array(sealed),
        recipientDomain: domainOf(to),
        expiresAt: expiryOf(mail),
      },
    });
  }

  /**
   * Claims due mails, in turns by domain: for half of the `free` places, and of a domain not more than its `share` without
   * what is `taken` of it, nor than half of what the others leave.
   */
  async claim(
    free: number,
    share: number,
    taken: Readonly<Record<string, number>>,
  ): Promise<ClaimedMail[]> {
    const { rows } = await this.#pool.query<ClaimedMail>({
      name: 'claim-mails',
      text: queries.CLAIM,
      values: [free, share, JSON.stringify(taken)],
    });
    return rows;
  }

  /** Throws if the encryption key is no longer configured. */
  open({ id, sealed }: Pick<ClaimedMail, 'id' | 'sealed'>): Message {
    return JSON.parse(this.#vault.open(sealed, mailPurpose(id)).toString());
  }

  /** Removes a mail that was sent or is never accepted. */
  async remove({ id }: ClaimedMail): Promise<void> {
    await this.#pool.query(queries.REMOVE, [id]);
  }

  /** Gives a mail back as if it had not been claimed. */
  async release({ id, attempts, dueAt }: ClaimedMail): Promise<void> {
    await this.#pool.query(queries.RELEASE, [id, attempts, dueAt]);
  }

  /** Schedules the next attempt, the later the more there were. */
  async postpone({ id, attempts }: ClaimedMail): Promise<void> {
    await this.#pool.query(queries.POSTPONE, [id, attempts]);
  }

  /** Makes the due mails to a domain wait. */
  async postponeDomain(domain: string, seconds: number): Promise<void> {
    await this.#pool.query(queries.POSTPONE_DOMAIN, [domain, seconds]);
  }

  /** Makes waiting mails due, of one domain or all; returns how many. */
  async retry(domain?: string): Promise<number> {
    const recipients = domain === undefined ? null : domainToASCII(domain);
    const { rowCount } = await this.#pool.query(queries.RETRY, [recipients]);
    return rowCount ?? 0;
  }

  /** What waits, without mails whose time is over. */
  async backlog(): Promise<MailBacklog> {
    const { rows } = await this.#pool.query<MailBacklog>(queries.BACKLOG);
    return rows[0] as MailBacklog;
  }

  /** What waits, by domain: the hundred domains with the most mails. */
  async backlogByDomain(): Promise<object[]> {
    return (await this.#pool.query<object>(queries.BY_DOMAIN)).rows;
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
