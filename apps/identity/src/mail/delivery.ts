import { mkdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DeliveryFailed, verdictOf } from './failures.ts';
import type { Message } from './mails.ts';

/** Delivers a mail; rejects if it was not accepted, with a `DeliveryFailed` if the reason says what to do. */
export type Deliver = (message: Message, signal: AbortSignal) => Promise<void>;

/** Prevents automatic replies (RFC 3834). */
const headers = { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' };

const ignore = (): void => undefined;

/** Sends mails through an SMTP server; `from` is an address with or without a name. */
export const smtpDelivery = ({ url, from }: { url: string; from: string }): Deliver => {
  const domain = /@([^@>\s]+)>?\s*$/.exec(from)?.[1] ?? 'localhost';
  return async ({ id, to, subject, text, html }, signal) => {
    // Loaded with the first mail: it takes several megabytes, and not every process sends mails.
    const { createTransport } = await import('nodemailer');
    let inSession = false;
    const transport = createTransport({
      url,
      connectionTimeout: 10_000,
      greetingTimeout: 10_000,
      socketTimeout: 20_000,
      maxResponseSize: 64 * 1024,
      // Message parts are always text, never file names or URLs.
      disableFileAccess: true,
      disableUrlAccess: true,
      // Errors do not tell whether the session had begun; nodemailer logs the step. Nothing is printed.
      logger: {
        level: ignore,
        trace: ignore,
        debug: ignore,
        info({ tnx }: { tnx?: string }) {
          if (tnx === 'send') inSession = true;
        },
        warn: ignore,
        error: ignore,
        fatal: ignore,
      },
    });
    try {
      await transport.sendMail({
        from,
        // As an object, so that the address is not parsed as a list.
        to: { name: '', address: to },
        subject,
        text,
        html,
        headers,
        signal,
        // All attempts have one Message-ID, so that mail clients show duplicates once.
        messageId: `<${id}@${domain}>`,
      });
    } catch (error) {
      throw new DeliveryFailed(verdictOf(error as object, inSession), error);
    }
  };
};

/** When a mail was written, which its id (UUIDv7) begins with. */
const writtenAt = (id: string): Date =>
  new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16));

/**
 * Writes mails to a folder as HTML and plain text, with names that sort by the time when they were written. Only the user of this process
 * can read them.
 */
export const folderDelivery = (directory: string): Deliver => {
  const write = async (name: string, content: string): Promise<void> => {
    const file = path.join(directory, name);
    await writeFile(`${file}.new`, content, { mode: 0o600 });
    await rename(`${file}.new`, file);
  };
  return async ({ id, kind, to, subject, text, html }) => {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const time = writtenAt(id).toISOString().replaceAll(':', '-');
    // Addresses may contain a slash.
    const reader = to.replace(/[^\p{L}\p{M}\p{N}@._+-]/gu, '_').slice(0, 100);
    const name = `${time} ${kind} ${reader} ${id.slice(-6)}`;
    await write(`${name}.html`, html);
    await write(`${name}.txt`, `To: ${to}\nSubject: ${subject}\n\n${text}`);
  };
};
